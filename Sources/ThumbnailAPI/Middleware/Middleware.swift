import Dialects
import HTTPTypes

/// The steps around a listener's routes; each list is in call order.
///
/// Called on event threads, and in the tasks of deferred responses; must not block.
struct Middleware: Sendable {
    let checks: [any RequestCheck]
    var counters: [any PendingRequestCounter] = []
    let completions: [any ResponseCompletion]
}

/// Runs before the route; an outcome or an error replaces the route's response.
protocol RequestCheck: Sendable {
    func check(_ context: RequestContext) throws(APIError) -> Outcome?
}

/// Counts requests that wait for their response.
protocol PendingRequestCounter: Sendable {
    /// Returns a closure to call once, when the response is ready or the request abandoned.
    func begin(_ context: RequestContext) throws(APIError) -> (@Sendable () -> Void)?
}

/// Adds fields to a response or records it.
protocol ResponseCompletion: Sendable {
    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration)
}

protocol RouteTable: Sendable {
    func route(of target: String) -> Route

    /// Returns 0 if the route takes no body.
    func maximumBodyLength(at route: Route) -> Int

    /// Called after all checks; throws if the method or route takes no body.
    func body(of request: HTTPRequest, in context: RequestContext) throws -> ArrivingBody

    /// Called after all checks; errors become responses, too.
    func respond(to request: HTTPRequest, in context: RequestContext) throws -> PendingResponse<Outcome>
}
