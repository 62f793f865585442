import Coordination
import Memory
import Testing

@testable import SharedCaching

struct PurgingTests {
    private let source = SharedSource(of: [1])

    @Test func `a purge reads back as written`() throws {
        let notice = try #require(PurgeNotice(source, name: "https://example.com/ä"))
        #expect(PurgeNotice(notice.encoded()) == notice)
        #expect(PurgeNotice([]) == nil)
        #expect(PurgeNotice(Array(notice.encoded().prefix(64))) == nil)
        #expect(PurgeNotice(notice.encoded() + Array(repeating: 65, count: 5_000)) == nil)
        #expect(PurgeNotice(Array(notice.encoded().dropLast())) == nil, "half of a character")
        #expect(PurgeNotice(source, name: String(repeating: "a", count: 4_097)) == nil)
    }

    @Test func `each purge is new once, and the latest missing ones of a log are found`() throws {
        var memory = PurgeMemory()
        let notices = try (0..<5).map { try #require(PurgeNotice(source, name: "\($0)")) }
        let (first, second) = (notices.map { memory.add($0) }, notices.map { memory.add($0) })
        #expect(first == Array(repeating: true, count: 5) && second == Array(repeating: false, count: 5))
        #expect(memory.missing(in: [notices[1].id, notices[3].id]).map(\.name) == ["0", "2", "4"])
    }

    @Test func `no more purges are remembered than the log holds`() throws {
        var memory = PurgeMemory()
        for number in 0..<PurgeMemory.capacity * 3 {
            _ = memory.add(try #require(PurgeNotice(source, name: "\(number)")))
        }
        let kept = memory.missing(in: [])
        #expect(kept.count == PurgeMemory.capacity)
        #expect(kept.last?.name == "\(PurgeMemory.capacity * 3 - 1)")
    }

    @Test func `a removal is due until it is confirmed`() {
        var pending = PendingRemovals()
        let added = [pending.add(.forget([source])), pending.add(.everything())]
        let (sent, none) = (pending.takeUnsent(), pending.takeUnsent())
        #expect(added == [true, true] && sent.count == 2 && none.isEmpty)
        pending.putBack(sent[0].number)
        let confirmed = [pending.confirm(sent[1].number) != nil, pending.confirm(sent[1].number) != nil]
        #expect(confirmed == [true, false])
        let again = pending.takeUnsent()
        #expect(again.map(\.number) == [sent[0].number])
        let last = pending.confirm(sent[0].number)
        #expect(last != nil && pending.isEmpty)
    }

    @Test func `if too many removals wait, the next is rejected, and a forgotten source purges everything`() {
        var pending = PendingRemovals()
        for _ in 0..<PendingRemovals.capacity { _ = pending.add(.forget([source])) }
        let answered = pending.add(.forget([source]), fulfilling: Promise())
        let isAdded = pending.add(.everything())
        #expect(!answered && !isAdded && pending.entries.count == PendingRemovals.capacity)
        let isForgotten = pending.add(.forget([source]))
        #expect(!isForgotten && pending.entries.count == 1)
        guard case .everything = pending.entries[0].removal else {
            Issue.record("not everything is removed")
            return
        }
    }

    @Test func `everything is purged once, for any number of removals in a queue full of purges`() {
        var pending = PendingRemovals()
        for _ in 0..<PendingRemovals.capacity { _ = pending.add(.purge([])) }
        for _ in 0..<3 { _ = pending.add(.forget([source])) }
        #expect(pending.entries.count == PendingRemovals.capacity + 1)
        _ = pending.takeUnsent()
        // The removal in progress may have run before this source was requested.
        for _ in 0..<3 { _ = pending.add(.forget([source])) }
        #expect(pending.entries.count == PendingRemovals.capacity + 2)
    }
}

extension PurgeLog {
    fileprivate mutating func process(_ expected: ExpectedReply, _ replies: [Reply]?) -> [Action] {
        process(replies.map { .replies($0) } ?? .closed, of: expected)
    }
}

struct PurgeLogTests {
    private let notice = PurgeNotice(SharedSource(of: [1]), name: "https://example.com/a")

    private func entry(_ id: String, _ notice: PurgeNotice? = nil) -> Reply {
        .array([.bytes(SharedBytes(id.utf8)), .array([.bytes(SharedBytes([112])), .bytes(written(notice))])])
    }

    private func written(_ notice: PurgeNotice?) -> SharedBytes { SharedBytes(notice?.encoded() ?? []) }

    /// The query for a page among these actions.
    private func page(_ actions: [PurgeLog.Action]) throws -> PurgeLog.ExpectedReply {
        try #require(
            actions.lazy.compactMap { action -> PurgeLog.ExpectedReply? in
                if case .send(_, let expected) = action, case .page = expected { expected } else { nil }
            }.first)
    }

    /// The names of the actions' effects; queries are omitted.
    private func names(_ actions: [PurgeLog.Action]) -> [String] {
        actions.compactMap { action in
            switch action {
            case .send: nil
            case .purge(let notice): "purge \(notice.name)"
            case .tagged(let removal, let tagged): "found \(tagged.sources.count) of \(removal.tag.text)"
            case .dropEverything: "drop"
            case .savePosition(let position): "note \(String(decoding: position, as: UTF8.self))"
            case .caughtUp: "caught up"
            case .fulfill(_, let state): "answer \(state)"
            case .report: "report"
            case .fail(let text): "refuse \(text)"
            case .probe: "probe"
            }
        }
    }

    @Test func `a purge received as a message is not repeated when it is read from the log`() throws {
        let notice = try #require(notice)
        var log = PurgeLog(SharedSigner(), isReadOnly: true, position: nil)
        let told = log.receive(notice)
        let expected = try page(log.read(for: .join))
        let read = log.process(expected, [.array([entry("1-1", notice)])])
        #expect(names(told) == ["purge https://example.com/a"] && names(read) == ["note 1-1", "probe"])
    }

    @Test func `a log without the position of an earlier process drops everything once, and is read from its start`()
        throws
    {
        let notice = try #require(notice)
        var log = PurgeLog(SharedSigner(), isReadOnly: true, position: Array("5-1".utf8))
        let lost = log.process(try page(log.read(for: .join)), [.array([entry("7-1")])])
        let read = log.process(try page(lost), [.array([entry("7-1"), entry("7-2", notice)])])
        let again = log.process(try page(log.read(for: .poll)), [.array([entry("9-1")])])
        #expect(names(lost).isEmpty)
        #expect(names(read) == ["purge https://example.com/a", "drop", "note 7-2", "probe"])
        #expect(names(again).isEmpty, "the place was reached by this process")
    }

    /// The effects, other than purges, of reading a log with these entries from its start.
    private func effects(
        of payloads: [[UInt8]], key: [UInt8]?, position: String? = nil
    ) throws -> [String] {
        var log = PurgeLog(SharedSigner(key: key), isReadOnly: true, position: position.map { Array($0.utf8) })
        var expected = try page(log.read(for: .join))
        var done: [String] = []
        if position != nil {
            expected = try page(log.process(expected, [.array([entry("8-1")])]))
        }
        for start in stride(from: 0, to: payloads.count, by: 500) {
            let replies = payloads[start..<min(start + 500, payloads.count)].enumerated().map { index, payload in
                Reply.array([
                    .bytes(SharedBytes("9-\(start + index)".utf8)),
                    .array([.bytes(SharedBytes([112])), .bytes(SharedBytes(payload))]),
                ])
            }
            let actions = log.process(expected, [.array(replies)])
            done += names(actions).filter { !$0.hasPrefix("purge") && !$0.hasPrefix("note") }
            if done.isEmpty { expected = try page(actions) }
        }
        return done
    }

    @Test func `with a key, unsigned entries prove no gap, and signed ones do`() throws {
        let key = Array("key".utf8)
        let foreign = Array(repeating: Array("junk".utf8), count: PurgeMemory.capacity)
        let signed = try (0..<PurgeMemory.capacity).map { number in
            let notice = try #require(PurgeNotice(SharedSource(of: [1]), name: "\(number)"))
            return notice.encoded(signer: SharedSigner(key: key))
        }
        #expect(try effects(of: foreign, key: nil) == ["drop", "probe"])
        #expect(try effects(of: foreign, key: key) == ["probe"])
        #expect(try effects(of: foreign, key: key, position: "7-1") == ["probe"])
        #expect(try effects(of: Array(repeating: signed[0], count: PurgeMemory.capacity), key: key) == ["probe"])
        #expect(try effects(of: signed, key: key) == ["drop", "probe"])
        #expect(try effects(of: signed, key: key, position: "7-1") == ["drop", "probe"])
        #expect(try effects(of: foreign, key: nil, position: "7-1") == ["drop", "probe"])
        #expect(try effects(of: [[]], key: key, position: "7-1") == ["drop", "probe"], "the log was lost")
    }

    @Test func `the log is not used if a server rejects it, and a closed connection sends no more`() throws {
        var log = PurgeLog(SharedSigner(), isReadOnly: true, position: nil)
        let expected = try page(log.read(for: .join))
        let (rejected, closed) = (log.process(expected, [.error("NOPERM")]), log.process(expected, nil))
        #expect(names(rejected) == ["refuse NOPERM"] && closed.isEmpty)
    }

    @Test func `an unconfirmed removal is sent again at the next connection, before the probe`() throws {
        let promise = Promise<RemovalState>()
        var log = PurgeLog(SharedSigner(), isReadOnly: true, position: nil)
        let early = log.add(.forget([SharedSource(of: [1])]), fulfilling: promise, isConnected: false)
        var expectations: [PurgeLog.ExpectedReply] = []
        for _ in 0..<2 {
            let actions = log.process(try page(log.read(for: .join)), [.array([])])
            #expect(actions.count == 1, "nothing but the removal")
            guard case .send(_, let expected) = try #require(actions.first) else { continue }
            expectations.append(expected)
            if expectations.count == 1 { #expect(log.process(expected, nil).isEmpty) }
        }
        let done = log.process(try #require(expectations.last), [.number(1)])
        #expect(names(early) == ["answer pending"] && names(done) == ["answer done", "probe"] && log.pending.isEmpty)
    }
}

struct StoreHealthTests {
    private var health = StoreHealth(interval: .seconds(1))

    @Test mutating func `a server is tried at once, then once per interval, until it is in use`() {
        let tries = [0, 999, 1_000].map { health.admitProbe(at: .milliseconds($0)) }
        #expect(tries == [true, false, true] && health.state == .down)
        let hasChanged = health.recordProbe(isQuick: true)
        #expect(hasChanged && health.state == .up && health.nextProbeAt == nil)
        let isTried = health.admitProbe(at: .seconds(9))
        #expect(!isTried)
    }

    @Test mutating func `three consecutive failures suspend a server, and a quick response to a probe resumes it`() {
        _ = health.admitProbe(at: .zero)
        _ = health.recordProbe(isQuick: true)
        var suspensions = [5, 5].map { health.recordFailure(at: .seconds($0)) }
        health.recordSuccess()
        suspensions += [6, 6, 6, 6].map { health.recordFailure(at: .seconds($0)) }
        #expect(suspensions == [false, false, false, false, true, false] && health.state == .suspended)
        let tries = [6_999, 7_000].map { health.admitProbe(at: .milliseconds($0)) }
        #expect(tries == [false, true])
        let hasChanged = health.recordProbe(isQuick: false)
        #expect(!hasChanged && health.state == .suspended)
        let isTried = health.admitProbe(at: .seconds(8))
        let isBack = health.recordProbe(isQuick: true)
        #expect(isTried && isBack && health.state == .up)
    }

    @Test mutating func `a lost connection is retried at once if it was in use`() {
        _ = health.admitProbe(at: .zero)
        _ = health.recordProbe(isQuick: true)
        let losses = [health.recordLoss(at: .seconds(5)), health.recordLoss(at: .seconds(5))]
        #expect(losses == [true, false] && health.state == .down)
        let tries = [health.admitProbe(at: .seconds(5)), health.admitProbe(at: .seconds(5))]
        #expect(tries == [true, false])
        let hasChanged = health.recordProbe(isQuick: false)
        #expect(hasChanged && health.state == .suspended)
        let isLost = health.recordLoss(at: .milliseconds(5_100))
        let later = [5_900, 6_000].map { health.admitProbe(at: .milliseconds($0)) }
        #expect(isLost && later == [false, true])
    }
}

struct WriteHealthTests {
    private var writing = WriteHealth()

    @Test mutating func `a full store is reported once, and retried every ten seconds until a write succeeds`() {
        let first = writing.mayWrite(at: .zero)
        let news = [.full, .full, .rejected].map { writing.record($0, at: .zero) }
        let tries = [0, 9_999, 10_000, 10_001, 20_000].map { writing.mayWrite(at: .milliseconds($0)) }
        #expect(first && news == [.full, nil, nil] && writing.isFull)
        #expect(tries == [false, false, true, false, true])
        let back = [.written, .written].map { writing.record($0, at: .zero) }
        #expect(back == [.recovered, nil] && !writing.isFull)
    }

    @Test mutating func `another write failure is reported once, and writes continue`() {
        let news = [.rejected, .rejected].map { writing.record($0, at: .zero) }
        let mayWrite = writing.mayWrite(at: .zero)
        let back = writing.record(.written, at: .zero)
        #expect(news == [.rejected, nil] && mayWrite && back == .recovered && !writing.isFull)
    }
}
