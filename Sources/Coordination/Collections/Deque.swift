/// A queue in an array, named as in swift-collections.
package struct Deque<Element> {
    private var storage: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { storage.count - head }

    package var isEmpty: Bool { count == 0 }

    package var first: Element? { head < storage.count ? storage[head] : nil }

    package var elements: [Element] { storage[head...].compactMap { $0 } }

    package mutating func append(_ element: Element) { storage.append(element) }

    package mutating func prepend(_ element: Element) {
        guard head > 0 else { return storage.insert(element, at: 0) }
        head -= 1
        storage[head] = element
    }

    /// Takes constant time on average: the removed part is dropped when it is half of the array.
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

    /// Removes the first match, in linear time.
    package mutating func removeFirst(where isMatch: (Element) -> Bool) -> Element? {
        for index in head..<storage.count {
            guard let element = storage[index], isMatch(element) else { continue }
            storage.remove(at: index)
            return element
        }
        return nil
    }
}
