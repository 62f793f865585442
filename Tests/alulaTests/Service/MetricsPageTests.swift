import Downloading
import Telemetry
import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// docs/metrics.md lists the metrics of the code.
@Suite(.timeLimit(.minutes(2)))
struct MetricsPageTests {
    /// The metrics of a service with all features enabled.
    private func descriptions() async throws -> [MetricDescription] {
        let server = try FakeRedis()
        let folder = TemporaryFolder()
        let arguments = [
            "--shared-cache", server.url, "--source-cache-path", folder.path + "/cache",
            "--trace-endpoint", "http://127.0.0.1:1/t", "--metrics-endpoint", "http://127.0.0.1:1/m",
        ]
        var kept = Origin(name: "kept", location: .folder(path: folder.path))
        kept.isWritable = true
        return try await withService(
            arguments,
            configure: { settings in
                settings.sandbox.decodesInProcess = false
                settings.sandbox.executable = BuiltExecutable.alula
                settings.renderWorkers = 1
                settings.downloads.origins = Origins([kept])
                settings.resultStore.origin = kept.name
            }
        ) { running in
            running.service.engine.registry.descriptions
        }
    }

    private func row(_ metric: MetricDescription) -> String {
        func names(_ names: [String]) -> String { names.map { "`\($0)`" }.joined(separator: ", ") }
        var labels = names(metric.labels)
        if let attributes = metric.otlp?.attributes {
            labels += (labels.isEmpty ? "" : "; ") + "OTLP: \(names(attributes))"
        }
        let cells = [
            "`\(metric.name)`", metric.otlp.map { "`\($0.name)`" } ?? "–", metric.kind.rawValue,
            metric.otlp?.unit ?? (metric.name.hasSuffix("_seconds") ? "s" : "–"), labels.isEmpty ? "–" : labels,
            metric.help,
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }

    @Test func `the page lists every metric as in the code, once, and no other`() async throws {
        let folder = #filePath.replacing("Tests/alulaTests/Service/MetricsPageTests.swift", with: "docs/")
        let page = try SettingsFile.read(folder + "metrics.md")
        let written = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { String($0) }.sorted()
        let expected = try await descriptions().map(row).sorted()
        let missing = expected.filter { !written.contains($0) }
        let wrong = written.filter { !expected.contains($0) }
        #expect(missing.isEmpty, "missing in docs/metrics.md:\n\(missing.joined(separator: "\n"))")
        #expect(wrong.isEmpty, "not so in the code:\n\(wrong.joined(separator: "\n"))")
        #expect(written.count == Set(written).count)
    }
}
