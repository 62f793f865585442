import Coordination
import JSON
import Telemetry
import TestSupport
import Testing
import Text

/// Events from the log to their readers, with a manual clock.
@Suite(.timeLimit(.minutes(1)))
struct EventFeedTests {
    private let time = ManualTimekeeper()
    private let log: EventLog
    private let feed: EventFeed

    init() {
        log = EventLog(timekeeper: time)
        let count = Locked(0)
        feed = EventFeed(of: log, timekeeper: time) {
            .int(
                count.withLock { count in
                    count += 1
                    return count
                })
        }
    }

    private static let quiet = EventFilter(kinds: [.download, .decode, .render, .purge, .origin, .activity])

    private func decode(_ url: String) { log.record(.decode(url: url, duration: .microseconds(1_500), format: "png")) }

    /// Waits until the feed has delivered all pending events.
    private func turn() async {
        for _ in 0..<4 {
            await time.sleepers(1)
            time.advance(by: .milliseconds(25))
        }
        await time.sleepers(1)
    }

    private func text(_ reader: EventReader) async -> String {
        String(decoding: await reader.next() ?? [], as: UTF8.self)
    }

    private func ids(_ text: String) -> [Int] {
        text.split(separator: "\n").compactMap { $0.hasPrefix("id: ") ? Int($0.dropFirst(4)) : nil }
    }

    @Test func `events are written in the standard's format, members in the documented order`() async throws {
        let reader = try feed.open(Self.quiet)
        log.record(.download(url: "http://h/a?b", state: .progress, bytes: 5, total: nil))
        log.record(.download(url: "http://h/a?b", state: .finished, bytes: 9, total: 9))
        decode("http://h/a?b")
        log.record(.render(url: "http://h/a?b", duration: .milliseconds(2), format: "webp"))
        log.record(.purge(url: nil, tag: "spring", entries: 2, bytes: 30, cause: .operator))
        log.record(.origin("http://h:80", state: "suspended"))
        log.record(.activity(isActive: false))
        await turn()
        let written = await text(reader)
        #expect(
            written == """
                id: 1
                event: download
                data: {"url":"http://h/a?b","state":"progress","bytes":5,"total":null,"time":1800000000.0}

                id: 2
                event: download
                data: {"url":"http://h/a?b","state":"finished","bytes":9,"total":9,"time":1800000000.0}

                id: 3
                event: decode
                data: {"url":"http://h/a?b","milliseconds":1.5,"format":"png","time":1800000000.0}

                id: 4
                event: render
                data: {"url":"http://h/a?b","milliseconds":2.0,"format":"webp","time":1800000000.0}

                id: 5
                event: purge
                data: {"url":null,"entries":2,"bytes":30,"cause":"operator","tag":"spring","time":1800000000.0}

                id: 6
                event: origin
                data: {"origin":"http://h:80","state":"suspended","time":1800000000.0}

                id: 7
                event: activity
                data: {"active":false,"time":1800000000.0}


                """)
        reader.close()
    }

    @Test func `a reader begins now, or after its last seen event`() async throws {
        for number in 1...5 { decode("http://h/\(number)") }
        let live = try feed.open(Self.quiet)
        let resumed = try feed.open(Self.quiet, after: 3)
        let all = try feed.open(Self.quiet, after: 0)
        decode("http://h/6")
        await turn()
        #expect(ids(await text(live)) == [6])
        #expect(ids(await text(resumed)) == [4, 5, 6])
        #expect(ids(await text(all)) == [1, 2, 3, 4, 5, 6])
        for reader in [live, resumed, all] { reader.close() }
    }

    @Test func `a thousand events are buffered without a reader; older ones are lost, and counted`() async throws {
        for number in 1...1_500 { decode("http://h/\(number)") }
        let reader = try feed.open(Self.quiet, after: 100)
        var written = await text(reader)
        #expect(written.hasPrefix("event: lost\ndata: {\"count\":400}\n\nid: 501\n"))
        while ids(written).last != 1_500 { written += await text(reader) }
        #expect(ids(written) == Array(501...1_500))
        reader.close()
    }

    @Test func `an event ID of an earlier process is not valid in this one`() async throws {
        decode("http://h/1")
        let reader = try feed.open(Self.quiet, after: 9_000)
        await turn()
        #expect(ids(await text(reader)) == [1])
        reader.close()
    }

    @Test func `a stopped reader loses events, and other readers do not`() async throws {
        let stopped = try feed.open(Self.quiet)
        let reading = try feed.open(Self.quiet)
        var seen: [Int] = []
        for round in 0..<15 {
            for number in 1...100 { decode("http://h/\(round)/\(number)") }
            await turn()
            seen += ids(await text(reading))
        }
        #expect(seen == Array(1...1_500))
        let written = await text(stopped)
        #expect(written.hasPrefix("event: lost\ndata: {\"count\":500}\n\nid: 501\n"), "\(written.prefix(60))")
        for reader in [stopped, reading] { reader.close() }
    }

    @Test func `events beyond the buffer between two reads are lost for all readers`() async throws {
        let reader = try feed.open(Self.quiet)
        await time.sleepers(1)
        for number in 1...2_300 { decode("http://h/\(number)") }
        await turn()
        #expect(await text(reader).hasPrefix("event: lost\ndata: {\"count\":1300}\n\nid: 1301\n"))
        reader.close()
    }

    @Test func `many events are sent at the next check, few after a tenth of a second`() async throws {
        let reader = try feed.open(Self.quiet)
        await time.sleepers(1)
        for number in 1...200 { decode("http://h/\(number)") }
        time.advance(by: .milliseconds(25))
        // The clock does not advance from here on.
        #expect(ids(await text(reader)).count == 200)
        reader.close()
    }

    @Test func `a filter passes its kinds and its source`() async throws {
        let kinds = try feed.open(EventFilter(kinds: [.purge, .activity]))
        let source = try feed.open(EventFilter(url: "http://h/a"))
        let both = try feed.open(EventFilter(kinds: [.purge, .stats], url: "http://h/a"))
        decode("http://h/a")
        decode("http://h/ab")
        log.record(.purge(url: "http://h/a", entries: 1, bytes: 2, cause: .changed))
        log.record(.purge(url: nil, entries: 3, bytes: 4, cause: .full))
        log.record(.activity(isActive: true))
        await turn()
        #expect(ids(await text(kinds)) == [3, 4, 5])
        #expect(ids(await text(source)) == [1, 3])
        #expect(ids(await text(both)) == [3])
        for reader in [kinds, source, both] { reader.close() }
    }

    @Test func `statistics are sent each second, and read once for all readers`() async throws {
        let readers = try (0..<3).map { _ in try feed.open(EventFilter(kinds: [.stats])) }
        // The first samples arrive when the first reader connects, perhaps before the other readers do.
        for second in 2...4 {
            for _ in 0..<40 {
                await time.sleepers(1)
                time.advance(by: .milliseconds(25))
            }
            await time.sleepers(1)
            for reader in readers { #expect(await text(reader) == "event: stats\ndata: \(second)\n\n") }
        }
        for reader in readers { reader.close() }
    }

    @Test func `sixty-four readers are served, and the next one is rejected until one leaves`() async throws {
        let readers = try (0..<64).map { _ in try feed.open(Self.quiet) }
        #expect(throws: EventFeed.Full.self) { try feed.open(Self.quiet) }
        readers[5].close()
        readers[5].close()
        #expect(feed.readerCount == 63)
        let late = try feed.open(Self.quiet)
        #expect(throws: EventFeed.Full.self) { try feed.open(Self.quiet) }
        for reader in readers + [late] { reader.close() }
        #expect(feed.readerCount == 0)
    }

    @Test func `the feed pauses without readers, and continues with the next`() async throws {
        let first = try feed.open(Self.quiet)
        await time.sleepers(1)
        first.close()
        #expect(await first.next() == nil)
        time.advance(by: .milliseconds(25))
        await time.noSleepers()
        let second = try feed.open(Self.quiet)
        decode("http://h/a")
        await turn()
        #expect(ids(await text(second)) == [1])
        second.close()
    }

    @Test func `the shutdown ends all readers, and later ones`() async throws {
        let reader = try feed.open(Self.quiet)
        let waiting = Task.immediate { await reader.next() }
        feed.shutDown()
        #expect(await waiting.value == nil)
        #expect(try await feed.open(Self.quiet, after: 0).next() == nil)
    }
}
