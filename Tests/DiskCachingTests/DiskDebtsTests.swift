import Testing

@testable import DiskCaching

struct DiskDebtsTests {
    private let source: [UInt8] = [1]
    private let other: [UInt8] = [2]

    @Test func `a write is wanted when its turn comes, unless its source was removed meanwhile`() throws {
        var debts = DiskDebts(maximumBytes: 100)
        let firstTicket = debts.announce(bytes: 1, source: source)
        let first = try #require(firstTicket)
        let secondTicket = debts.announce(bytes: 1, source: other)
        let second = try #require(secondTicket)
        debts.owe(source: source)
        let thirdTicket = debts.announce(bytes: 1, source: source)
        let third = try #require(thirdTicket)
        let wanted = [debts.conclude(first), debts.conclude(second), debts.conclude(third)]
        #expect(wanted == [false, true, true])
        let due = debts.settle()
        #expect(due.sources == [source])
        let rest = debts.settle()
        #expect(rest.isNothing)
    }

    @Test func `the removal of everything calls off all that waits and nothing that comes later`() throws {
        var debts = DiskDebts(maximumBytes: 100)
        let beforeTicket = debts.announce(bytes: 1, source: source)
        let before = try #require(beforeTicket)
        debts.oweEverything()
        let afterTicket = debts.announce(bytes: 1, source: source)
        let after = try #require(afterTicket)
        let wanted = [debts.conclude(before), debts.conclude(after)]
        #expect(wanted == [false, true])
        let many = debts.settle()
        #expect(many.isEverything)
    }

    @Test func `more bytes than may wait are refused, but one write alone is not`() throws {
        var debts = DiskDebts(maximumBytes: 100)
        let largeTicket = debts.announce(bytes: 1_000, source: source)
        let large = try #require(largeTicket)
        let refused = debts.announce(bytes: 1, source: source)
        #expect(refused == nil)
        #expect(debts.isWriting(source))
        _ = debts.conclude(large)
        #expect(!debts.isWriting(source))
        let pair = [debts.announce(bytes: 60, source: source), debts.announce(bytes: 60, source: source)]
        #expect(pair[0] != nil && pair[1] == nil)
    }

    @Test func `removals beyond a number become the removal of everything`() {
        var debts = DiskDebts(maximumBytes: 100)
        for number in 0..<4_096 { debts.owe(source: Array("\(number)".utf8)) }
        let few = debts.settle()
        #expect(!few.isEverything)
        for number in 0..<4_097 { debts.owe(source: Array("\(number)".utf8)) }
        let many = debts.settle()
        #expect(many.isEverything)
    }
}
