import Coordination
import Downloading
import JSON
import Recipes
import ThumbnailPipeline

extension JSONValue {
    static let maximumRows = 20

    /// Waiting requests and tasks by resource; downloads with the most waiting requests come first.
    static func waiting(_ downloads: [FetchSnapshot], statistics: ServiceStatistics) -> JSONValue {
        struct Place: Hashable {
            let name: String
            let host: String
        }
        let places = Dictionary(grouping: downloads) { Place(name: $0.isRunning ? "origin" : "slot", host: $0.host) }
        var rows = places.map { place, fetches in
            (place.name, place.host, fetches.reduce(0) { $0 + $1.receipts.count }, fetches.map(\.age).max() ?? .zero)
        }.sorted { ($1.2, $0.0, $0.1) < ($0.2, $1.0, $1.1) }
        rows = Array(rows.prefix(maximumRows))
        for (name, lane) in [("small work", statistics.small), ("expensive work", statistics.expensive)] {
            rows.append((name, "", lane.waiting, lane.delay))
        }
        rows.append(("memory", "", statistics.memory.waiting, .zero))
        return .array(
            rows.filter { $0.2 > 0 }.map { name, host, count, time in
                .object(
                    [("for", .string(name))] + (host.isEmpty ? [] : [("host", .string(host))])
                        + [("count", .int(count)), ("seconds", .double(time.seconds))])
            })
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
