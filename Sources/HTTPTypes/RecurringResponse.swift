import Synchronization

/// Sent many times unchanged, with the server's encoded form, which is created once.
///
/// Safe to share because the form is written once, by the thread that changed the state from `empty`, and read only
/// when it is `ready`.
@safe
package final class RecurringResponse: @unchecked Sendable {
    /// Created by the server; may be used on any thread.
    package typealias EncodedForm = AnyObject & Sendable

    private enum State: UInt8, AtomicRepresentable {
        case empty, taken, ready
    }

    package let response: HTTPResponse
    private let state = Atomic(State.empty)
    private nonisolated(unsafe) var form: (any EncodedForm)?

    package init(_ response: HTTPResponse) { self.response = response }

    /// Calls `make` on first use; nil if out of memory.
    package func encodedForm(make: (HTTPResponse) -> (any EncodedForm)?) -> (any EncodedForm)? {
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

/// Answers a request that is repeated byte for byte, without parsing it again.
package protocol RecurringResponder: AnyObject, Sendable {
    /// Returns nil if the request must be parsed again. Called on event threads; must not block.
    func response() -> RecurringResponse?
}
