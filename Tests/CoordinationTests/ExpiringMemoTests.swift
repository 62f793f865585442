import Testing

@testable import Coordination

struct ExpiringMemoTests {
    @Test func `values count by their bytes, and what has expired leaves first`() {
        var memo = ExpiringMemo<Int, String>(capacity: 100, maximumBytes: 10)
        memo.remember("a", for: 1, bytes: 4, until: .seconds(1), at: .zero)
        memo.remember("b", for: 2, bytes: 4, until: .seconds(9), at: .zero)
        #expect(memo.byteCount == 8)
        memo.remember("c", for: 3, bytes: 4, until: .seconds(9), at: .seconds(2))
        #expect(memo.value(for: 2, at: .seconds(2)) == "b" && memo.value(for: 3, at: .seconds(2)) == "c")
        #expect(memo.count == 2 && memo.byteCount == 8)
        // Nothing has expired: everything goes.
        memo.remember("d", for: 4, bytes: 4, until: .seconds(9), at: .seconds(3))
        #expect(memo.count == 1 && memo.byteCount == 4)
    }

    @Test func `a value in place of another counts alone, and one that is too large is not remembered`() {
        var memo = ExpiringMemo<Int, String>(capacity: 100, maximumBytes: 10)
        memo.remember("a", for: 1, bytes: 9, until: .seconds(9), at: .zero)
        memo.remember("b", for: 1, bytes: 3, until: .seconds(9), at: .zero)
        #expect(memo.byteCount == 3 && memo.value(for: 1, at: .zero) == "b")
        memo.remember("c", for: 1, bytes: 11, until: .seconds(9), at: .zero)
        #expect(memo.byteCount == 0 && memo.value(for: 1, at: .zero) == nil)
        memo.remember("d", for: 2, bytes: 10, until: .seconds(9), at: .zero)
        memo.forget { $0 == 2 }
        #expect(memo.byteCount == 0 && memo.count == 0)
    }

    @Test func `the number of values is bounded, too`() {
        var memo = ExpiringMemo<Int, Int>(capacity: 2)
        for key in 1...5 { memo.remember(key, for: key, until: .seconds(9), at: .zero) }
        #expect(memo.count <= 2 && memo.value(for: 5, at: .zero) == 5)
    }
}
