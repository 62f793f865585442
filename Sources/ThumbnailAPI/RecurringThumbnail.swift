import Coordination
import HTTPTypes

/// The answer to a target that a client asks for again and again: what the caches have for it at the time.
final class RecurringThumbnail: RecurringAnswer {
    private let prepared: PreparedQuery
    private let responder: ThumbnailResponder
    private let last = Locked<DatedResponse?>(nil)

    /// The answer to what `prepared` asks for, by the responder that prepared it.
    init(_ prepared: PreparedQuery, of responder: ThumbnailResponder) {
        self.prepared = prepared
        self.responder = responder
    }

    /// Nil when the thumbnail is no longer cached and fresh, or the service is draining.
    func response() -> RecurringResponse? {
        let known = last.withLock { $0 }
        let new = responder.recurringResponse(prepared, after: known)
        if new?.second != known?.second || new?.generation != known?.generation { last.withLock { $0 = new } }
        return new?.response
    }
}

/// A response with what it depends on.
struct DatedResponse {
    let response: RecurringResponse
    /// Unix seconds at which it was right.
    let second: Int
    /// ``ThumbnailServing/generation`` before it was made.
    let generation: Int
}
