import Coordination
import Downloading
import JSON
import Recipes
import ThumbnailPipeline

extension JSONValue {
    static let maximumRows = 20

    /// Waiting requests and tasks by resource; downloads with the most waiting requests come first.
    static func waiting(_ downloads: [FetchSnapshot], statistics: ServiceStatistics) -> JSONValue {
        let groups = Dictionary(grouping: downloads) { [$0.isRunning ? "origin" : "slot", $0.host] }
        var queues = groups.map { key, fetches in
            WaitingQueue(
                resource: key[0], host: key[1], count: fetches.reduce(0) { $0 + $1.receipts.count },
                longestWait: fetches.map(\.age).max() ?? .zero)
        }
        queues.sort { ($1.count, $0.resource, $0.host) < ($0.count, $1.resource, $1.host) }
        queues = Array(queues.prefix(maximumRows))
        for (name, lane) in [("small work", statistics.small), ("expensive work", statistics.expensive)] {
            queues.append(WaitingQueue(resource: name, host: "", count: lane.waiting, longestWait: lane.delay))
        }
        queues.append(WaitingQueue(resource: "memory", host: "", count: statistics.memory.waiting, longestWait: .zero))
        return .array(queues.filter { $0.count > 0 }.map(\.json))
    }

    static func work(_ entries: [WorkUsage.Entry]) -> JSONValue {
        .array(
            entries.prefix(maximumRows).map { share in
                .object([
                    ("origin", .string(share.origin)), ("step", .string(share.step.rawValue)),
                    ("format", .string(share.format.rawValue)),
                    ("seconds", .double((share.time.seconds * 1_000).rounded() / 1_000)),
                ])
            })
    }
}

private struct WaitingQueue {
    let resource: String
    /// The host of a download; empty for other resources.
    let host: String
    let count: Int
    let longestWait: Duration

    var json: JSONValue {
        .object(
            [("for", .string(resource))] + (host.isEmpty ? [] : [("host", .string(host))])
                + [("count", .int(count)), ("seconds", .double(longestWait.seconds))])
    }
}
