/// Answers a request that is repeated byte for byte, without reading it again.
package protocol RecurringAnswer: AnyObject, Sendable {
    /// The answer at this moment; nil if the request has to be read again. Called on event threads, never blocks.
    func response() -> RecurringResponse?
}
