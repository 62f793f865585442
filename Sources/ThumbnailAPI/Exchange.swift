import HTTPTypes

/// One request on the public listener, as its log line and metrics see it.
struct Exchange: Sendable {
    /// The request's name, sent as `X-Request-Id`; a waiting caller's receipt is the same.
    let requestID: String
    /// When the request's head was complete, by the monotonic clock.
    let startedAt: Duration
    /// The method, nil for a request that never became one.
    let method: HTTPRequest.Method?
    /// What was asked for.
    let route: PublicRoute
}
