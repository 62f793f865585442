import Dialects
import HTTPTypes
import Text

/// The steps around a listener's routes.
///
/// Called on event threads, and in the tasks of deferred responses; must not block.
struct Middleware: Sendable {
    private let preparations: [any RequestPreparation]
    private let checks: [any RequestCheck]
    private let counters: [any PendingRequestCounter]
    private let completions: [any ResponseCompletion]

    /// - Parameter steps: The outermost first; completions run in reverse order.
    init(_ steps: [any MiddlewareStep]) {
        preparations = steps.compactMap { $0 as? any RequestPreparation }
        checks = steps.compactMap { $0 as? any RequestCheck }
        counters = steps.compactMap { $0 as? any PendingRequestCounter }
        completions = steps.reversed().compactMap { $0 as? any ResponseCompletion }
    }

    func prepare(_ context: inout RequestContext) {
        for preparation in preparations { preparation.prepare(&context) }
    }

    func check(_ context: RequestContext) throws(APIError) -> Outcome? {
        for check in checks {
            if let outcome = try check.check(context) { return outcome }
        }
        return nil
    }

    /// Starts the wait in all counters; returns a closure that ends it.
    func beginWait(_ context: RequestContext) throws(APIError) -> @Sendable () -> Void {
        var ends: [@Sendable () -> Void] = []
        do throws(APIError) {
            for counter in counters {
                if let end = try counter.begin(context) { ends.append(end) }
            }
        } catch {
            for end in ends { end() }
            throw error
        }
        return { [ends] in for end in ends { end() } }
    }

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        for completion in completions { completion.complete(&outcome, to: context, at: now) }
    }
}

protocol MiddlewareStep: Sendable {}

/// Determines facts about a request before its checks; the request is nil if the server rejected it unread.
protocol RequestPreparation: MiddlewareStep {
    func prepare(_ context: inout RequestContext)
}

/// Runs before the route; an outcome or an error replaces the route's response.
protocol RequestCheck: MiddlewareStep {
    func check(_ context: RequestContext) throws(APIError) -> Outcome?
}

/// Counts requests that wait for their response.
protocol PendingRequestCounter: MiddlewareStep {
    /// Returns a closure to call once, when the response is ready or the request abandoned.
    func begin(_ context: RequestContext) throws(APIError) -> (@Sendable () -> Void)?
}

/// Adds fields to a response or records it.
protocol ResponseCompletion: MiddlewareStep {
    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration)
}

/// A hit that the server answers with an earlier response; its middleware must not allocate.
struct RepeatedHit {
    let route: ImageRoute
    let startedAt: Duration
    let endedAt: Duration
    let sentBytes: Int
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
