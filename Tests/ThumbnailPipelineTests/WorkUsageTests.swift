import Downloading
import Recipes
import Telemetry
import TestSupport
import Testing
import Text

@testable import ThumbnailPipeline

struct WorkUsageTests {
    private let time = ManualTimekeeper()
    private let registry = MetricsRegistry()
    private let usage: WorkUsage

    init() { usage = WorkUsage(registry: registry, timekeeper: time) }

    private func identity(_ text: String) throws -> SourceIdentity {
        let shop = Origin(name: "shop", location: .folder(path: "/"))
        return try DownloadRules(DownloadConfiguration(origins: [shop])).identity(of: ExactText(text))
    }

    @Test func `time is shared out by origin, step and format for ten minutes, the largest first`() throws {
        try usage.record(.decode, format: .png, of: identity("https://h/a"), time: .milliseconds(20))
        time.advance(by: .seconds(300))
        try usage.record(.decode, format: .png, of: identity("https://h/b"), time: .milliseconds(20))
        try usage.record(.encode, format: .avif, of: identity("shop:a"), time: .seconds(3))
        usage.record(.render, format: .jpeg, of: SourceIdentity(uploaded: "abc"), time: .milliseconds(1))
        #expect(usage.entries.map(\.origin) == ["shop:", "https://h:443", "uploads"])
        #expect(usage.entries.map(\.time) == [.seconds(3), .milliseconds(40), .milliseconds(1)])
        time.advance(by: .seconds(310))
        #expect(usage.entries.map(\.time) == [.seconds(3), .milliseconds(20), .milliseconds(1)])
        time.advance(by: .seconds(600))
        #expect(usage.entries.isEmpty)
        #expect(registry.prometheusText.contains(#"alula_work_seconds_total{step="encode",format="avif"} 3"#))
        #expect(registry.prometheusText.contains(#"alula_work_seconds_total{step="decode",format="heic"} 0"#))
        #expect(!registry.prometheusText.contains(#"step="encode",format="heic""#))
    }

    @Test func `origins beyond a thousand are one`() throws {
        for number in 0..<1_100 {
            try usage.record(.decode, format: .png, of: identity("https://h\(number)/a"), time: .milliseconds(1))
        }
        #expect(usage.entries.count == 1_001)
        #expect(
            usage.entries.first
                == WorkUsage.Entry(
                    origin: "others", step: .decode, format: .png, time: .milliseconds(100)))
    }
}
