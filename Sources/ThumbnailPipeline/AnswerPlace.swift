import Coordination

/// A place beside a cached result for what answers with it have in common; it goes when the result does.
package final class AnswerPlace: Sendable {
    /// What is kept there.
    package typealias Content = AnyObject & Sendable

    private let content = Locked<(any Content)?>(nil)

    /// An empty place.
    package init() {}

    /// What was kept last.
    package var kept: (any Content)? { content.withLock { $0 } }

    /// Keeps `new` instead of what is there.
    package func keep(_ new: any Content) {
        let replaced = content.withLock { content in
            defer { content = new }
            return content
        }
        // Released here, outside the lock.
        _ = replaced
    }
}
