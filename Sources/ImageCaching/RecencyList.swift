/// Elements in order of their last use, linked by indices in one array: no allocation per element, constant time per
/// step.
@usableFromInline
struct RecencyList<Element> {
    @usableFromInline
    struct Node {
        @usableFromInline var element: Element?
        @usableFromInline var newer: Int
        @usableFromInline var older: Int

        @inlinable
        init(element: Element?, newer: Int, older: Int) {
            self.element = element
            self.newer = newer
            self.older = older
        }
    }

    @inlinable static var none: Int { -1 }

    @usableFromInline var nodes: [Node] = []
    @usableFromInline var free: [Int] = []
    @usableFromInline var newest = RecencyList.none
    @usableFromInline var oldest = RecencyList.none

    @inlinable init() {}

    @inlinable var last: Element? { oldest == Self.none ? nil : nodes[oldest].element }

    /// All elements, most recently used first.
    @inlinable var elements: [Element] {
        var elements: [Element] = []
        var slot = newest
        while slot != Self.none {
            if let element = nodes[slot].element { elements.append(element) }
            slot = nodes[slot].older
        }
        return elements
    }

    @inlinable subscript(slot: Int) -> Element {
        guard let element = nodes[slot].element else { preconditionFailure("slot \(slot) is not in use") }
        return element
    }

    /// Adds an element as the most recently used; returns its slot.
    @inlinable mutating func insertAtFront(_ element: Element) -> Int {
        let node = Node(element: element, newer: Self.none, older: Self.none)
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            nodes[slot] = node
        } else {
            slot = nodes.count
            nodes.append(node)
        }
        link(slot)
        return slot
    }

    @inlinable mutating func moveToFront(_ slot: Int) {
        guard slot != newest else { return }
        unlink(slot)
        link(slot)
    }

    @inlinable mutating func remove(_ slot: Int) -> Element {
        let element = self[slot]
        unlink(slot)
        nodes[slot].element = nil
        free.append(slot)
        return element
    }

    @inlinable mutating func link(_ slot: Int) {
        nodes[slot].newer = Self.none
        nodes[slot].older = newest
        if newest != Self.none { nodes[newest].newer = slot }
        newest = slot
        if oldest == Self.none { oldest = slot }
    }

    @inlinable mutating func unlink(_ slot: Int) {
        let node = nodes[slot]
        if node.newer == Self.none { newest = node.older } else { nodes[node.newer].older = node.older }
        if node.older == Self.none { oldest = node.newer } else { nodes[node.older].newer = node.newer }
    }
}
