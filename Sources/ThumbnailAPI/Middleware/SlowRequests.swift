package import Coordination
import JSON
import Telemetry

/// The slowest requests of the last ten minutes, with the contents of their log lines.
package final class SlowRequests: ResponseCompletion {
    private struct Entry {
        let end: Duration
        let second: Int
        let duration: Duration
        let fields: [(String, Logger.MetadataValue)]
    }

    static let threshold = Duration.milliseconds(100)
    private static let maximumCount = 20
    private static let span = Duration.seconds(600)

    private let timekeeper: any Timekeeper
    /// Slow requests, the slowest first.
    private let entries = Locked<[Entry]>([])

    package init(timekeeper: any Timekeeper) { self.timekeeper = timekeeper }

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        let duration = now - context.startedAt
        guard duration >= Self.threshold, !context.route.isProbe else { return }
        let entry = Entry(
            end: now, second: timekeeper.secondsSince1970, duration: duration,
            fields: AccessLog.fields(outcome, in: context, at: now))
        entries.withLock { entries in
            entries.removeAll { now - $0.end > Self.span }
            entries.insert(entry, at: entries.firstIndex { $0.duration < duration } ?? entries.endIndex)
            if entries.count > Self.maximumCount { entries.removeLast() }
        }
    }

    var json: JSONValue {
        let now = timekeeper.now
        let recent = entries.withLock { $0 }.filter { now - $0.end <= Self.span }
        return .array(
            recent.map { entry in
                .object([("time", .int(entry.second))] + entry.fields.map { ($0.0, JSONValue($0.1)) })
            })
    }
}

extension JSONValue {
    fileprivate init(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .int(let number): self = .int(number)
        case .double(let number): self = .double(number)
        case .bool(let flag): self = .bool(flag)
        }
    }
}
