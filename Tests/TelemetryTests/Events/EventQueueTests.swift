import JSON
import Testing

@testable import Telemetry

/// The event queue of one reader.
struct EventQueueTests {
    private static func events(_ ids: ClosedRange<Int>) -> [EventText] {
        ids.map { EventText(NumberedEvent(id: $0, event: .activity(isActive: true), time: 0)) }
    }

    private func ids(_ batch: EventQueue<Int>.Batch?) -> [String] {
        (batch?.events ?? []).map { String(decoding: $0.bytes, as: UTF8.self).split(separator: "\n")[0].description }
    }

    @Test func `an event wakes a waiting reader, and a writing one finds it later`() {
        var queue = EventQueue<Int>(at: .zero)
        #expect(queue.offer([], at: .zero) == nil)
        #expect(queue.wait(7) == nil)
        #expect(queue.offer(Self.events(1...1), at: .zero) == 7)
        #expect(queue.offer(Self.events(2...2), at: .zero) == nil)
        #expect(ids(queue.take()) == ["id: 1", "id: 2"])
        #expect(queue.wait(8) == nil)
        _ = queue.offer(Self.events(3...3), at: .zero)
        #expect(queue.wait(9) == 9)
    }

    @Test func `a thousand events are queued; beyond that, the oldest are dropped and counted`() {
        var queue = EventQueue<Int>(at: .zero)
        _ = queue.offer(Self.events(1...1_000), at: .zero)
        #expect(queue.take()?.lost == 0)
        queue = EventQueue(at: .zero)
        _ = queue.offer(Self.events(1...600), at: .zero)
        _ = queue.offer(Self.events(601...1_017), missed: 3, at: .zero)
        var batch = queue.take()
        #expect(batch?.lost == 20)
        #expect(ids(batch).first == "id: 18")
        var last = ids(batch).last
        while let next = queue.take(), !next.events.isEmpty {
            #expect(next.lost == 0)
            batch = next
            last = ids(next).last
        }
        #expect(last == "id: 1017")
    }

    @Test func `a batch's bytes are limited`() {
        var queue = EventQueue<Int>(at: .zero)
        let url = "http://h/" + String(repeating: "a", count: 2_000)
        let event = NumberedEvent(id: 1, event: .decode(url: url, duration: .zero, format: "png"), time: 0)
        _ = queue.offer((0..<1_000).map { _ in EventText(event) }, at: .zero)
        let bytes = queue.take()?.events.reduce(0) { $0 + $1.bytes.count } ?? 0
        #expect(bytes > 60_000 && bytes < 68_000, "\(bytes)")
    }

    @Test func `only the newest statistics are queued`() {
        var queue = EventQueue<Int>(at: .zero)
        for number in 1...100 { _ = queue.offer([], statistics: EventText(statistics: .int(number)), at: .zero) }
        let batch = queue.take()
        #expect(batch?.statistics.map { String(decoding: $0.bytes, as: UTF8.self) } == "event: stats\ndata: 100\n\n")
        #expect(queue.take()?.statistics == nil)
    }

    @Test func `an idle reader gets a heartbeat after a quarter of a minute`() {
        var queue = EventQueue<Int>(at: .zero)
        #expect(queue.wait(1) == nil)
        #expect(queue.offer([], at: .milliseconds(14_999)) == nil)
        #expect(queue.offer([], at: .seconds(15)) == 1)
        #expect(queue.take()?.events.isEmpty == true)
        #expect(queue.wait(2) == nil)
        _ = queue.offer(Self.events(1...1), at: .seconds(29))
        _ = queue.take()
        #expect(queue.wait(3) == nil)
        #expect(queue.offer([], at: .seconds(43)) == nil)
        #expect(queue.offer([], at: .seconds(44)) == 3)
    }

    @Test func `a closed queue wakes its reader without events, and accepts no more`() {
        var queue = EventQueue<Int>(Self.events(1...3), at: .zero)
        _ = queue.take()
        #expect(queue.wait(1) == nil)
        #expect(queue.close() == 1)
        #expect(queue.take() == nil)
        #expect(queue.wait(2) == 2)
        #expect(queue.offer(Self.events(4...4), at: .zero) == nil)
        #expect(queue.close() == nil)
    }
}
