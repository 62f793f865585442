/// A first-in, first-out queue in one array; named as in swift-collections.
package struct Deque<Element> {
    private var storage: [Element?] = []
    private var head = 0

    package init() {}

    /// Elements that are queued.
    package var count: Int { storage.count - head }

    /// Whether nothing is queued.
    package var isEmpty: Bool { count == 0 }

    /// The element that is taken out next.
    package var first: Element? { head < storage.count ? storage[head] : nil }

    /// The elements in order.
    package var elements: [Element] { storage[head...].compactMap { $0 } }

    /// Adds an element at the end.
    package mutating func append(_ element: Element) {
        storage.append(element)
    }

    /// Puts an element before all others.
    package mutating func prepend(_ element: Element) {
        guard head > 0 else { return storage.insert(element, at: 0) }
        head -= 1
        storage[head] = element
    }

    /// Takes the first element out.
    ///
    /// Constant time on average: the taken part is dropped when it is half of the array.
    package mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        defer {
            storage[head] = nil
            head += 1
            if head > 32, head * 2 > storage.count {
                storage.removeFirst(head)
                head = 0
            }
        }
        return storage[head]
    }

    /// Takes out the first element that `isMatch` holds for, in linear time.
    package mutating func removeFirst(where isMatch: (Element) -> Bool) -> Element? {
        for index in head..<storage.count {
            guard let element = storage[index], isMatch(element) else { continue }
            storage.remove(at: index)
            return element
        }
        return nil
    }
}
