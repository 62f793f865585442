import Testing

@testable import SharedCaching

struct PurgingTests {
    private let source = SharedSource(of: [1])

    @Test func `a purge is read as it was written`() throws {
        let notice = try #require(PurgeNotice(source, name: "https://example.com/ä"))
        #expect(PurgeNotice(notice.written()) == notice)
        #expect(PurgeNotice([]) == nil)
        #expect(PurgeNotice(Array(notice.written().prefix(64))) == nil)
        #expect(PurgeNotice(notice.written() + Array(repeating: 65, count: 5_000)) == nil)
        #expect(PurgeNotice(Array(notice.written().dropLast())) == nil, "half of a character")
        #expect(PurgeNotice(source, name: String(repeating: "a", count: 4_097)) == nil)
    }

    @Test func `each purge is new once, and the latest are those that a log may lack`() throws {
        var memory = PurgeMemory()
        let notices = try (0..<5).map { try #require(PurgeNotice(source, name: "\($0)")) }
        let (first, second) = (notices.map { memory.note($0) }, notices.map { memory.note($0) })
        #expect(first == Array(repeating: true, count: 5) && second == Array(repeating: false, count: 5))
        #expect(memory.missing(in: [notices[1].id, notices[3].id]).map(\.name) == ["0", "2", "4"])
    }

    @Test func `no more purges are kept than the log keeps`() throws {
        var memory = PurgeMemory()
        for number in 0..<PurgeMemory.capacity * 3 {
            _ = memory.note(try #require(PurgeNotice(source, name: "\(number)")))
        }
        let kept = memory.missing(in: [])
        #expect(kept.count == PurgeMemory.capacity)
        #expect(kept.last?.name == "\(PurgeMemory.capacity * 3 - 1)")
    }

    @Test func `a removal is due until it is confirmed`() {
        var due = DueRemovals()
        let added = [due.add(.forget([source])), due.add(.everything)]
        let (sent, none) = (due.takeUnsent(), due.takeUnsent())
        #expect(added == [true, true] && sent.count == 2 && none.isEmpty)
        due.putBack(sent[0].number)
        let confirmed = [due.confirm(sent[1].number) != nil, due.confirm(sent[1].number) != nil]
        #expect(confirmed == [true, false])
        let again = due.takeUnsent()
        #expect(again.map(\.number) == [sent[0].number])
        let last = due.confirm(sent[0].number)
        #expect(last != nil && due.isEmpty)
    }

    @Test
    func `if too many removals wait, the next is refused, and what was to be forgotten goes with everything else`() {
        var due = DueRemovals()
        for _ in 0..<DueRemovals.capacity { _ = due.add(.forget([source])) }
        let isAdded = due.add(.everything)
        #expect(!isAdded && due.entries.count == DueRemovals.capacity)
        due.collapse()
        #expect(due.entries.count == 1)
        guard case .everything = due.entries[0].removal else {
            Issue.record("not everything is removed")
            return
        }
    }
}

struct TierHealthTests {
    /// What a health does at a time, as a value.
    private var health = TierHealth(interval: .seconds(1))

    @Test mutating func `a server is tried at once, then once in an interval, until it is in use`() {
        let tries = [0, 999, 1_000].map { health.takeTry(at: .milliseconds($0)) }
        #expect(tries == [true, false, true] && health.state == .down)
        let hasChanged = health.answered(isQuick: true)
        #expect(hasChanged && health.state == .up && health.nextTryAt == nil)
        let isTried = health.takeTry(at: .seconds(9))
        #expect(!isTried)
    }

    @Test mutating func `three failures in a row suspend a server, and a quick answer to a probe ends that`() {
        _ = health.takeTry(at: .zero)
        _ = health.answered(isQuick: true)
        var suspensions = [5, 5].map { health.failed(at: .seconds($0)) }
        health.succeeded()
        suspensions += [6, 6, 6, 6].map { health.failed(at: .seconds($0)) }
        #expect(suspensions == [false, false, false, false, true, false] && health.state == .suspended)
        let tries = [6_999, 7_000].map { health.takeTry(at: .milliseconds($0)) }
        #expect(tries == [false, true])
        let hasChanged = health.answered(isQuick: false)
        #expect(!hasChanged && health.state == .suspended)
        let isTried = health.takeTry(at: .seconds(8))
        let isBack = health.answered(isQuick: true)
        #expect(isTried && isBack && health.state == .up)
    }

    @Test mutating func `a lost connection is tried again at once if it was in use`() {
        _ = health.takeTry(at: .zero)
        _ = health.answered(isQuick: true)
        let losses = [health.lost(at: .seconds(5)), health.lost(at: .seconds(5))]
        #expect(losses == [true, false] && health.state == .down)
        let tries = [health.takeTry(at: .seconds(5)), health.takeTry(at: .seconds(5))]
        #expect(tries == [true, false])
        let hasChanged = health.answered(isQuick: false)
        #expect(hasChanged && health.state == .suspended)
        let isLost = health.lost(at: .milliseconds(5_100))
        let later = [5_900, 6_000].map { health.takeTry(at: .milliseconds($0)) }
        #expect(isLost && later == [false, true])
    }
}
