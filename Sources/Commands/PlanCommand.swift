import Composition
import Downloading
import Glibc
import JSON
import Memory
import Program
import Recipes
import Settings
import Text
import ThumbnailAPI
import ThumbnailPipeline
import ThumbnailTypes

enum PlanCommand {
    private static let requests = CommandOption(
        name: "requests", form: "NUMBER", help: "requests a day, such as 2000000 or 2M")
    private static let images = CommandOption(name: "images", form: "NUMBER", help: "source images, such as 500k")
    private static let hits = CommandOption(
        name: "hits", form: "SHARE", help: "share of requests served from caches, 0 to 1; default: 0.9")
    private static let peak = CommandOption(
        name: "peak", form: "NUMBER", help: "peak-to-mean ratio of the request rate; default: 3")
    private static let utilization = CommandOption(
        name: "utilization", form: "SHARE", help: "CPU utilization at the peak, 0 to 1; default: 0.5")

    static let description = CommandDescription(
        name: "plan", summary: "estimate CPU cores, memory and storage for a load", operands: "SAMPLE… [OPTIONS]",
        text: """
            Renders samples (files or folders of your images) with these result options or renditions, measures the CPU
            time, and estimates the CPU cores, memory, storage and traffic of the load, and of ten times as many requests.
            Run it while the machine is idle, with at least a dozen typical images.
            """, options: [requests, images, hits, peak, utilization, Rendition.option, .recursive, .json],
        takesParameters: true, takesImageSettings: true,
        examples: ["alula plan photos --requests 2M --images 500k --hits 0.95 -w 320,640,1280 -f webp"])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            let settings = try CommandRunner.settings(arguments)
            var load = CapacityPlan.Load(
                requestsPerDay: try number(requests, in: arguments), images: try number(images, in: arguments),
                renditions: 1, hitRatio: try number(hits, in: arguments, atMost: 1, default: 0.9))
            load.peak = try number(peak, in: arguments, default: load.peak)
            load.utilization = try number(utilization, in: arguments, atMost: 1, default: load.utilization)
            let renditions = try Rendition.all(
                of: arguments.values(of: Rendition.option), options: arguments.parameters, format: nil,
                dialect: CommandSession.adapted(settings, jobs: 1).api.nativeDialect)
            load.renditions = Double(renditions.count)
            let samples = SourceList.expanded(
                arguments.operands.map { CommandSource($0, origins: settings.downloads.origins) }, for: arguments
            ).sources
            guard !samples.isEmpty else { throw UsageError("missing sample") }
            let session = try CommandSession(settings, jobs: 1)
            let costs = try await CostMeasurement(
                session: session, samples: samples.map(\.source), requests: renditions.map(\.request)
            ).costs()
            await session.end()
            let plans = [1.0, 10].map { times in
                var larger = load
                larger.requestsPerDay *= times
                return CapacityPlan(larger, costs: costs)
            }
            return Program.print(
                arguments.has(.json)
                    ? PlanText.json(plans, costs: costs).text
                    : PlanText.table(of: plans, costs: costs, load: load, samples: samples.count))
                ? 0 : 1
        }
    }

    private static func number(
        _ option: CommandOption, in arguments: CommandArguments, atMost maximum: Double = 1e15,
        default assumed: Double? = nil
    ) throws(UsageError) -> Double {
        guard let text = arguments.value(of: option) else {
            guard let assumed else { throw UsageError("missing --\(option.name)") }
            return assumed
        }
        let units: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9]
        let unit = text.last.flatMap { units[$0] }
        guard let number = Double(unit == nil ? text[...] : text.dropLast()).map({ $0 * (unit ?? 1) }),
            (0.001...maximum).contains(number)
        else {
            let largest = maximum == 1 ? "1" : "1000000G"
            throw UsageError("--\(option.name): invalid value \"\(text)\"; expected a number from 0.001 to \(largest)")
        }
        return number
    }
}

/// Measures each result of each sample separately, as on a cache miss.
private struct CostMeasurement {
    let session: CommandSession
    let samples: [CommandSource]
    let requests: [Request]

    /// The shortest accurate measurement, because the kernel counts CPU time in ticks.
    private static let minimumSeconds = 2.0

    func costs() async throws -> CapacityPlan.Costs {
        // Render once before measuring, so that workers start and libraries are loaded.
        for request in requests { _ = try await render(request, of: samples[0]) }
        let start = ProcessMetrics.totalCPUSeconds
        var count = 0.0
        var resultBytes = 0.0
        var sourceBytes = 0.0
        var seconds = 0.0
        repeat {
            for sample in samples {
                for request in requests {
                    let (source, result) = try await render(request, of: sample)
                    count += 1
                    sourceBytes += Double(source)
                    resultBytes += Double(result)
                }
            }
            seconds = ProcessMetrics.totalCPUSeconds - start
        } while seconds < Self.minimumSeconds && !Task.isCancelled
        return CapacityPlan.Costs(
            processorTime: seconds / count, resultBytes: resultBytes / count, sourceBytes: sourceBytes / count)
    }

    private func render(_ request: Request, of sample: CommandSource) async throws -> (source: Int, result: Int) {
        do {
            let opened = try await session.open(sample, receipt: "plan")
            defer { session.close(opened) }
            let pipeline = session.engine.pipeline
            let result = try await pipeline.thumbnail(for: Job(pipeline.resolved(request, of: opened), receipt: "plan"))
            return (opened.byteCount, result.image.bytes.count)
        } catch {
            throw CommandFailure(error).about(sample.text)
        }
    }
}

enum PlanText {
    static func table(
        of plans: [CapacityPlan], costs: CapacityPlan.Costs, load: CapacityPlan.Load, samples: Int
    ) -> String {
        let rows: [(String, (CapacityPlan) -> String)] = [
            ("requests per second, peak", { rounded($0.requests) }),
            ("misses per second, peak", { rounded($0.misses) }),
            ("CPU cores", { rounded($0.processors) }), ("memory without caches", { bytes($0.memory) }),
            ("cache for this hit ratio", { bytes($0.cachedResults) }), ("all results", { bytes($0.allResults) }),
            ("from origins", { bytes($0.fromOrigins) + "/s" }), ("to clients", { bytes($0.toClients) + "/s" }),
        ]
        let heading = """
            Measured with \(samples) images, \(Int(load.renditions)) results each: \(rounded(costs.processorTime * 1_000)) ms of \
            CPU time and \(bytes(costs.resultBytes)) per result, \(bytes(costs.sourceBytes)) per source.

            """
        let lines = [("", ["1×", "10×"])] + rows.map { row in (row.0, plans.map(row.1)) }
        return lines.reduce(heading) { text, line in
            text + "\n" + line.0.padded(to: 28) + line.1.map { $0.padded(to: 14) }.joined()
        }
    }

    static func json(_ plans: [CapacityPlan], costs: CapacityPlan.Costs) -> JSONValue {
        .object([
            (
                "costs",
                .object([
                    ("processorSeconds", .double(costs.processorTime)), ("resultBytes", .double(costs.resultBytes)),
                    ("sourceBytes", .double(costs.sourceBytes)),
                ])
            ),
            ("plan", members(plans[0])), ("planTimesTen", members(plans[1])),
        ])
    }

    private static func members(_ plan: CapacityPlan) -> JSONValue {
        .object([
            ("requestsPerSecond", .double(plan.requests)), ("missesPerSecond", .double(plan.misses)),
            ("processors", .double(plan.processors)), ("memoryBytes", .double(plan.memory)),
            ("cachedResultBytes", .double(plan.cachedResults)), ("allResultBytes", .double(plan.allResults)),
            ("originBytesPerSecond", .double(plan.fromOrigins)), ("sentBytesPerSecond", .double(plan.toClients)),
        ])
    }

    /// Rounds up to two digits, because the estimate has no more.
    private static func rounded(_ number: Double) -> String {
        number >= 10
            ? String(Int(min(number, 1e18).rounded(.up))) : String(Double(Int((number * 10).rounded(.up))) / 10)
    }

    private static func bytes(_ count: Double) -> String { StatusText.size(Int(min(count, 1e18))) }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
