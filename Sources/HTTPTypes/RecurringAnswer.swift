/// Answers a request that comes again exactly as it came before, without another look at it.
package protocol RecurringAnswer: AnyObject, Sendable {
    /// What is answered at this moment; nil where the request has to be looked at again. Called on event threads, never blocks.
    func response() -> RecurringResponse?
}
