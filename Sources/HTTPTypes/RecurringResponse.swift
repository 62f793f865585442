import Synchronization

/// A response that is sent many times unchanged, with the form that the server sends, which is made once.
///
/// Safe to share because the form is written once, by the thread that changed the state from `empty`, and read only
/// when it is `ready`.
@safe
package final class RecurringResponse: @unchecked Sendable {
    /// A server's form of a response; may be used on any thread.
    package typealias SentForm = AnyObject & Sendable

    private enum State: UInt8, AtomicRepresentable {
        case empty, taken, ready
    }

    package let response: HTTPResponse
    private let state = Atomic(State.empty)
    private nonisolated(unsafe) var form: (any SentForm)?

    /// A response that has not been sent yet.
    package init(_ response: HTTPResponse) {
        self.response = response
    }

    /// The form that was made when the response was first sent, else the one that `make` makes; nil without memory.
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

/// Answers a request that is repeated byte for byte, without reading it again.
package protocol RecurringAnswer: AnyObject, Sendable {
    /// The answer at this moment; nil if the request has to be read again. Called on event threads; must not block.
    func response() -> RecurringResponse?
}
