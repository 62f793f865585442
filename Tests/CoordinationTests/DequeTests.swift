import Coordination
import Testing

struct DequeTests {
    @Test func `elements leave in order of arrival`() {
        var queue = Deque<Int>()
        var taken: [Int] = []
        for number in 0..<1_000 {
            queue.append(number)
            if number.isMultiple(of: 3), let first = queue.popFirst() { taken.append(first) }
        }
        while let first = queue.popFirst() { taken.append(first) }
        #expect(taken == Array(0..<1_000))
        #expect(queue.isEmpty && queue.popFirst() == nil)
    }

    @Test func `an element can be removed from the middle`() {
        var queue = Deque<Int>()
        for number in 0..<5 { queue.append(number) }
        _ = queue.popFirst()
        #expect(queue.removeFirst { $0 == 3 } == 3)
        #expect(queue.removeFirst { $0 == 0 } == nil)
        #expect(queue.elements == [1, 2, 4] && queue.count == 3)
    }
}
