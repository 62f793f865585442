import Synchronization

/// A response that is sent many times unchanged: the sender keeps its own form of it here, made once.
///
/// Safe to share because the form is written once, by the thread that changed the state from `empty`, and read only
/// when it is `ready`.
@safe
package final class RecurringResponse: @unchecked Sendable {
    /// A sender's form of a response; may be used on any thread.
    package typealias SentForm = AnyObject & Sendable

    private enum State: UInt8, AtomicRepresentable {
        case empty, taken, ready
    }

    /// The response itself.
    package let response: HTTPResponse
    private let state = Atomic(State.empty)
    private nonisolated(unsafe) var form: (any SentForm)?

    /// A response that has not been sent yet.
    package init(_ response: HTTPResponse) {
        self.response = response
    }

    /// The form that was made at the first sending, else what `make` makes, which may be nil when memory is short.
    package func sentForm(make: (HTTPResponse) -> (any SentForm)?) -> (any SentForm)? {
        if state.load(ordering: .acquiring) == .ready { return unsafe form }
        guard let made = make(response) else { return nil }
        let isFirst = state.compareExchange(expected: .empty, desired: .taken, ordering: .acquiring).exchanged
        if isFirst {
            unsafe form = made
            state.store(.ready, ordering: .releasing)
        }
        return made
    }
}
