import Testing

@testable import DiskCaching

struct PendingChangesTests {
    private let source: [UInt8] = [1]
    private let other: [UInt8] = [2]

    @Test func `a queued write is still valid at its turn, unless its source has been removed`() throws {
        var changes = PendingChanges(maximumBytes: 100)
        let firstTicket = changes.registerWrite(bytes: 1, source: source)
        let first = try #require(firstTicket)
        let secondTicket = changes.registerWrite(bytes: 1, source: other)
        let second = try #require(secondTicket)
        changes.addRemoval(source: source)
        let thirdTicket = changes.registerWrite(bytes: 1, source: source)
        let third = try #require(thirdTicket)
        let wanted = [changes.finishWrite(first), changes.finishWrite(second), changes.finishWrite(third)]
        #expect(wanted == [false, true, true])
        let due = changes.takeRemovals()
        #expect(due.sources == [source])
        let rest = changes.takeRemovals()
        #expect(rest.isEmpty)
    }

    @Test func `the removal of everything cancels earlier changes and no later ones`() throws {
        var changes = PendingChanges(maximumBytes: 100)
        let beforeTicket = changes.registerWrite(bytes: 1, source: source)
        let before = try #require(beforeTicket)
        changes.addRemovalOfEverything()
        let afterTicket = changes.registerWrite(bytes: 1, source: source)
        let after = try #require(afterTicket)
        let wanted = [changes.finishWrite(before), changes.finishWrite(after)]
        #expect(wanted == [false, true])
        let many = changes.takeRemovals()
        #expect(many.isEverything)
    }

    @Test func `queued bytes beyond the limit are rejected, but a single write is not`() throws {
        var changes = PendingChanges(maximumBytes: 100)
        let largeTicket = changes.registerWrite(bytes: 1_000, source: source)
        let large = try #require(largeTicket)
        let rejected = changes.registerWrite(bytes: 1, source: source)
        #expect(rejected == nil)
        #expect(changes.isWriting(source))
        _ = changes.finishWrite(large)
        #expect(!changes.isWriting(source))
        let pair = [changes.registerWrite(bytes: 60, source: source), changes.registerWrite(bytes: 60, source: source)]
        #expect(pair[0] != nil && pair[1] == nil)
    }

    @Test func `removals beyond a number become the removal of everything`() {
        var changes = PendingChanges(maximumBytes: 100)
        for number in 0..<4_096 { changes.addRemoval(source: Array("\(number)".utf8)) }
        let few = changes.takeRemovals()
        #expect(!few.isEverything)
        for number in 0..<4_097 { changes.addRemoval(source: Array("\(number)".utf8)) }
        let many = changes.takeRemovals()
        #expect(many.isEverything)
    }
}
