/// A response that is ready, or will be.
///
/// `Content` is the response, or a value from which a caller creates it.
package enum PendingResponse<Content: Sendable>: Sendable {
    case ready(Content)
    /// Shared by many requests; the responder may serve the next request with the same header, byte for byte.
    case recurring(RecurringResponse, by: any RecurringResponder)
    /// Canceled when the client disconnects.
    case deferred(@Sendable () async -> Content)
    case waiting(ShortWait<Content>)
}

/// A wait for an external reply without a task: the event thread starts it, does other work, and then continues.
///
/// Keep it short: the server does not notice during the wait that the client disconnects.
package struct ShortWait<Content: Sendable>: Sendable {
    /// Called on an event thread; must not block.
    ///
    /// Calls `ready` once, on any thread, possibly at once.
    package let begin: @Sendable (_ ready: @escaping @Sendable () -> Void) -> Void
    /// Called on an event thread after `ready`; must not block.
    package let finish: @Sendable () -> PendingResponse<Content>
    /// Called if the server ends the wait; the content is recorded and not sent.
    package let abandon: @Sendable () -> Content

    package init(
        begin: @escaping @Sendable (_ ready: @escaping @Sendable () -> Void) -> Void,
        finish: @escaping @Sendable () -> PendingResponse<Content>, abandon: @escaping @Sendable () -> Content
    ) {
        self.begin = begin
        self.finish = finish
        self.abandon = abandon
    }
}
