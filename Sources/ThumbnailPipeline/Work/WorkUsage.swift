import Coordination
import Downloading
package import Recipes
import Telemetry

/// CPU time of image work: in total by step and format, and in the last ten minutes also by origin.
package final class WorkUsage: Sendable {
    package enum Step: String, Sendable, CaseIterable {
        case decode, render, encode
    }

    package struct Entry: Sendable, Equatable {
        /// As in ``OriginStatus/origin``, but `NAME:` for a named origin.
        package let origin: String
        package let step: Step
        package let format: ImageFormat
        package let time: Duration
    }

    private struct Key: Hashable {
        let origin: String
        let step: Step
        let format: ImageFormat
    }

    private struct Minute {
        var number = 0
        var times: [Key: Duration] = [:]
    }

    package static let span = Duration.seconds(600)
    /// The maximum number of entries per minute; further ones count as `others`, because clients can invent origins.
    private static let maximumKeys = 1_000
    private static let others = "others"

    private let timekeeper: any Timekeeper
    private let minutes = Locked([Minute](repeating: Minute(), count: 10))
    private let totals = Locked<[[String]: Duration]>([:])

    init(registry: MetricsRegistry, timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
        for format in ImageFormat.allCases {
            for step in Step.allCases where step == .decode || format.isWritten {
                totals.withLock { $0[[step.rawValue, format.rawValue]] = .zero }
            }
        }
        registry.observableCounter(
            "alula_work_seconds_total", help: "Processor time of image work by step and format.", labels: "step",
            "format"
        ) { [totals] in
            totals.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map {
                ($0.key, $0.value.seconds)
            }
        }
    }

    func record(_ step: Step, format: ImageFormat, of source: SourceIdentity, time: Duration) {
        guard time > .zero else { return }
        totals.withLock { $0[[step.rawValue, format.rawValue], default: .zero] += time }
        let number = minute(at: timekeeper.now)
        minutes.withLock { minutes in
            let index = number % minutes.count
            if minutes[index].number != number { minutes[index] = Minute(number: number) }
            var key = Key(origin: Self.origin(of: source), step: step, format: format)
            if minutes[index].times.count >= Self.maximumKeys, minutes[index].times[key] == nil {
                key = Key(origin: Self.others, step: step, format: format)
            }
            minutes[index].times[key, default: .zero] += time
        }
    }

    /// The entries of the last ten minutes, largest first.
    package var entries: [Entry] {
        let number = minute(at: timekeeper.now)
        let recent = minutes.withLock { minutes in minutes.filter { number - $0.number < minutes.count } }
        var sums: [Key: Duration] = [:]
        for minute in recent { sums.merge(minute.times, uniquingKeysWith: +) }
        return sums.map { Entry(origin: $0.key.origin, step: $0.key.step, format: $0.key.format, time: $0.value) }
            .sorted { ($1.time, $0.origin) < ($0.time, $1.origin) }
    }

    private func minute(at now: Duration) -> Int { Int(now.components.seconds / 60) }

    private static func origin(of source: SourceIdentity) -> String {
        if let name = source.originName { return "\(name):" }
        return source.isUpload ? "uploads" : source.url.origin.description
    }
}
