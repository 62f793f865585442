import Coordination
import Dialects
import Downloading
package import HTTPTypes
import Memory
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// One concern of all exchanges of a listener.
///
/// Called on event threads, and in the tasks of deferred answers; must not block.
protocol Middleware: Sendable {
    /// Checks a request before its route; an answer or an error ends the exchange.
    func check(_ exchange: Exchange) throws(APIError) -> Answer?

    /// Called if the answer is not ready; the result is called once when it is, or when its request is abandoned.
    func begin(_ exchange: Exchange) throws(APIError) -> (@Sendable () -> Void)?

    /// Completes or records an answer.
    func complete(_ answer: inout Answer, to exchange: Exchange, at now: Duration)
}

extension Middleware {
    func check(_ exchange: Exchange) throws(APIError) -> Answer? { nil }

    func begin(_ exchange: Exchange) throws(APIError) -> (@Sendable () -> Void)? { nil }

    func complete(_ answer: inout Answer, to exchange: Exchange, at now: Duration) {}
}

protocol RouteTable: Sendable {
    func route(of target: String) -> Route

    /// The maximum size of a route's body in bytes; 0 if it takes none.
    func maximumBodyLength(at route: Route) -> Int

    /// Answers a request that has passed all checks; errors become answers, too.
    func reply(to request: HTTPRequest, _ exchange: Exchange) throws -> Reply
}

/// A listener's door: a list of concerns, the outermost first, and the routes behind them.
///
/// Requests are checked in the order of the list; answers are completed in the opposite one.
package final class Door: RequestResponder {
    private let checks: [any Middleware]
    private let completions: [any Middleware]
    private let routes: any RouteTable
    private let failures: FailureWriter
    private let fallbackImages: FallbackImages?
    private let requestIDs: RequestIDs
    private let trustedProxies: TrustedProxies
    private let tracer: Tracer?
    private let timekeeper: any Timekeeper

    init(
        _ middleware: [any Middleware], routes: any RouteTable, failures: FailureWriter,
        fallbackImages: FallbackImages? = nil, requestIDs: RequestIDs,
        trustedProxies: TrustedProxies = TrustedProxies(), tracer: Tracer? = nil, timekeeper: any Timekeeper
    ) {
        checks = middleware
        completions = middleware.reversed()
        self.routes = routes
        self.failures = failures
        self.fallbackImages = fallbackImages
        self.requestIDs = requestIDs
        self.trustedProxies = trustedProxies
        self.tracer = tracer
        self.timekeeper = timekeeper
    }

    package func respond(to request: HTTPRequest) -> HTTPReply {
        let exchange = exchange(for: request, at: routes.route(of: request.target), request.body?.count ?? 0)
        let reply = reply(to: request, exchange)
        guard case .receiving(let body) = reply else { return finished(reply, exchange) }
        guard request.hasBody else { return finished(failure(APIError.lengthRequired, exchange), exchange) }
        return finished(body.respond(to: request), exchange)
    }

    package func bodyPolicy(for request: HTTPRequest) -> BodyPolicy? {
        let route = routes.route(of: request.target)
        let maximum = routes.maximumBodyLength(at: route)
        guard maximum > 0 else { return nil }
        return BodyPolicy(maximumLength: maximum) { [self] request, length in
            // The request's time begins here.
            let exchange = exchange(for: request, at: route, length)
            switch reply(to: request, exchange) {
            case .receiving(let body): return .accepted(Reservation(body, exchange, self))
            case .ready(let answer): return .rejected(completed(answer, exchange))
            default: preconditionFailure("a route with a body answers before it has arrived")
            }
        }
    }

    package func response(to rejection: HTTPRejection) -> HTTPResponse {
        let exchange = Exchange(
            request: nil, bodyLength: 0, id: requestIDs.next(), startedAt: timekeeper.now, route: .none, client: nil,
            isProxied: false, trace: nil)
        return completed(failures.answer(to: rejection.error, exchange), exchange)
    }

    private func exchange(for request: HTTPRequest, at route: Route, _ bodyLength: Int?) -> Exchange {
        let (client, isProxied) = trustedProxies.sender(of: request)
        let parent = isProxied ? request.headerFields[.traceparent].flatMap { TraceContext(traceparent: $0) } : nil
        return Exchange(
            request: request, bodyLength: bodyLength, id: requestIDs.next(), startedAt: timekeeper.now, route: route,
            client: client, isProxied: isProxied, trace: tracer?.begin(continuing: parent))
    }

    private func reply(to request: HTTPRequest, _ exchange: Exchange) -> Reply {
        do {
            for middleware in checks {
                if let answer = try middleware.check(exchange) { return .ready(answer) }
            }
            return try routes.reply(to: request, exchange)
        } catch {
            return failure(error, exchange)
        }
    }

    private func failure(_ error: any Error, _ exchange: Exchange) -> Reply {
        .ready(failures.answer(to: error, exchange))
    }

    private func finished(_ reply: Reply, _ exchange: Exchange) -> HTTPReply {
        switch reply {
        case .ready, .recurring, .receiving: return finished(reply, exchange) {}
        case .deferred, .waiting:
            do {
                return finished(reply, exchange, end: try begun(exchange))
            } catch {
                return finished(failure(error, exchange), exchange)
            }
        }
    }

    /// Calls each concern's begin; the result ends all of them.
    private func begun(_ exchange: Exchange) throws(APIError) -> @Sendable () -> Void {
        var ends: [@Sendable () -> Void] = []
        for middleware in completions {
            if let end = try middleware.begin(exchange) { ends.append(end) }
        }
        return { [ends] in for end in ends { end() } }
    }

    /// Calls `end` when the answer is complete, or abandoned.
    private func finished(_ reply: Reply, _ exchange: Exchange, end: @escaping @Sendable () -> Void) -> HTTPReply {
        switch reply {
        case .ready(let answer):
            end()
            let response = completed(answer, exchange)
            guard let image = answer.fallbackImage, let fallbackImages else { return .ready(response) }
            return .deferred { await fallbackImages.response(image, replacing: response, exchange.id) }
        case .recurring(let response, let responder):
            end()
            return .recurring(response, by: responder)
        case .deferred(let work):
            return .deferred { [self] in
                defer { end() }
                return await RequestTrace.$current.withValue(exchange.trace) {
                    let answer = await work()
                    let response = completed(answer, exchange)
                    guard let image = answer.fallbackImage, let fallbackImages else { return response }
                    return await fallbackImages.response(image, replacing: response, exchange.id)
                }
            }
        case .waiting(let wait):
            return .waiting(
                ShortWait(begin: wait.begin) { [self] in
                    finished(wait.reply(), exchange, end: end)
                } onAbandon: { [self] in
                    _ = completed(wait.onAbandon(), exchange)
                    end()
                })
        case .receiving: preconditionFailure("a body is received twice")
        }
    }

    private func completed(_ answer: Answer, _ exchange: Exchange) -> HTTPResponse {
        var answer = answer
        let now = timekeeper.now
        for middleware in completions { middleware.complete(&answer, to: exchange, at: now) }
        return answer.response
    }
}

extension Door {
    private final class Reservation: BodyReservation {
        private let body: ArrivingBody
        private let exchange: Exchange
        private let door: Door

        init(_ body: ArrivingBody, _ exchange: Exchange, _ door: Door) {
            (self.body, self.exchange, self.door) = (body, exchange, door)
        }

        func rejection(ofLength length: Int) -> HTTPResponse? {
            do {
                try body.grow(to: length)
                return nil
            } catch {
                return door.completed(door.failures.answer(to: error, exchange), exchange)
            }
        }

        func respond(to request: HTTPRequest) -> HTTPReply { door.finished(body.respond(to: request), exchange) }
    }
}
