import Coordination
import JSON

/// `text/event-stream` (HTML, section 9.2), encoded once for all readers, when the first wants it.
final class EventText: Sendable {
    private enum Content {
        case event(NumberedEvent)
        case written([UInt8])
    }

    /// A comment, which clients ignore.
    static let keepAlive = Array(":\n\n".utf8)

    private let content: Locked<Content>
    /// In bytes, without encoding the event.
    let approximateSize: Int

    init(_ event: NumberedEvent) {
        content = Locked(.event(event))
        approximateSize = 128 + (event.event.url?.utf8.count ?? 0)
    }

    init(statistics: JSONValue) {
        let bytes = Self.bytes("event: \(ServiceEvent.Kind.stats.rawValue)\n", data: statistics)
        content = Locked(.written(bytes))
        approximateSize = bytes.count
    }

    var bytes: [UInt8] {
        content.withLock { content in
            switch content {
            case .written(let bytes): return bytes
            case .event(let event):
                let bytes = Self.bytes(
                    "id: \(event.id)\nevent: \(event.event.kind.rawValue)\n",
                    data: .object(event.event.members + [("time", .double(Double(event.time / 1_000_000) / 1_000))]))
                content = .written(bytes)
                return bytes
            }
        }
    }

    static func lost(_ count: Int) -> [UInt8] { bytes("event: lost\n", data: .object([("count", .int(count))])) }

    private static func bytes(_ fields: String, data: JSONValue) -> [UInt8] {
        Array("\(fields)data: \(data.text)\n\n".utf8)
    }
}
