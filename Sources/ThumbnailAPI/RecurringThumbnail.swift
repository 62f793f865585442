import HTTPTypes

/// The answer to a target that is asked for again and again: what the caches have for it at the time.
final class RecurringThumbnail: RecurringAnswer {
    private let prepared: PreparedQuery
    private let responder: ThumbnailResponder

    /// The answer to what `prepared` asks for, by the responder that prepared it.
    init(_ prepared: PreparedQuery, of responder: ThumbnailResponder) {
        self.prepared = prepared
        self.responder = responder
    }

    /// Nil when the thumbnail is no longer cached and fresh, or the service is draining.
    func response() -> RecurringResponse? { responder.recurringResponse(prepared) }
}
