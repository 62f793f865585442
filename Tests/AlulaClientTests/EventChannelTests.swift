import Foundation
import TestSupport
import Testing

@testable import AlulaClient

/// The channel between a producer and its reading tasks.
@Suite(.timeLimit(.minutes(1)))
struct EventChannelTests {
    @Test func `events arrive in order, also those sent before the end`() async throws {
        let channel = EventChannel<Int> {}
        for event in 1...3 { channel.send(event) }
        channel.finish()
        channel.send(4)
        #expect(
            try await [channel.next(), channel.next(), channel.next(), channel.next(), channel.next()] == [
                1, 2, 3, nil, nil,
            ])
    }

    @Test func `an event replaces the last one only if that is unread and obsolete`() async throws {
        let channel = EventChannel<Int> {}
        for event in [1, 10, 11, 2, 12] { channel.send(event) { $0 >= 10 } }
        channel.finish(throwing: .tooLarge)
        #expect(try await [channel.next(), channel.next(), channel.next()] == [1, 2, 12])
        await #expect(throws: ClientError.self) { try await channel.next() }
    }

    @Test func `several tasks may wait at once, and all of them end`() async throws {
        let channel = EventChannel<Int> {}
        let readers = (0..<20).map { _ in
            Task {
                var read: [Int] = []
                while let event = try await channel.next() { read.append(event) }
                return read
            }
        }
        for event in 0..<1_000 {
            channel.send(event)
            if event.isMultiple(of: 10) { await Task.yield() }
        }
        channel.finish()
        var all: [Int] = []
        for reader in readers {
            let read = try await reader.value
            #expect(read == read.sorted())
            all += read
        }
        #expect(all.sorted() == Array(0..<1_000))
    }

    @Test func `a canceled or dropped reader cancels the channel once`() async throws {
        let cancellations = EventCounter()
        let channel = EventChannel<Int> { cancellations.increment() }
        let reader = Task { try await channel.next() }
        reader.cancel()
        await #expect { try await reader.value } throws: { if case ClientError.cancelled = $0 { true } else { false } }
        channel.cancel()
        #expect(cancellations.count == 1)
        let dropped = EventChannel<Int> { cancellations.increment() }
        _ = EventReader(dropped)
        #expect(cancellations.count == 2)
        let finished = EventChannel<Int> { cancellations.increment() }
        finished.finish()
        _ = EventReader(finished)
        #expect(cancellations.count == 2)
    }
}
