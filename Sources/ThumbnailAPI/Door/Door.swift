import Coordination
import Dialects
import Downloading
package import HTTPTypes
import Memory
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// Called on event threads, and in the tasks of deferred answers; must not block.
protocol Middleware: Sendable {}

/// Before the route; an answer or an error ends the exchange.
protocol RequestCheck: Middleware {
    func check(_ exchange: Exchange) throws(APIError) -> Answer?
}

/// Counts exchanges whose answer is not ready.
protocol WaitCount: Middleware {
    /// The result is called once when the answer is ready, or when its request is abandoned.
    func begin(_ exchange: Exchange) throws(APIError) -> (@Sendable () -> Void)?
}

protocol AnswerCompletion: Middleware {
    func complete(_ answer: inout Answer, to exchange: Exchange, at now: Duration)
}

protocol RouteTable: Sendable {
    func route(of target: String) -> Route

    /// 0 if the route takes no body.
    func maximumBodyLength(at route: Route) -> Int

    /// All checks have passed; throws if its method or route takes no body.
    func body(of request: HTTPRequest, _ exchange: Exchange) throws -> ArrivingBody

    /// All checks have passed; errors become answers, too.
    func reply(to request: HTTPRequest, _ exchange: Exchange) throws -> Reply
}

/// A list of concerns, the outermost first, and the routes behind them.
///
/// Requests are checked in the order of the list; answers are completed in the opposite one.
package final class Door: RequestResponder {
    private let checks: [any RequestCheck]
    private let waits: [any WaitCount]
    private let completions: [any AnswerCompletion]
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
        checks = middleware.compactMap { $0 as? any RequestCheck }
        waits = middleware.reversed().compactMap { $0 as? any WaitCount }
        completions = middleware.reversed().compactMap { $0 as? any AnswerCompletion }
        (self.routes, self.failures, self.fallbackImages) = (routes, failures, fallbackImages)
        (self.requestIDs, self.trustedProxies) = (requestIDs, trustedProxies)
        (self.tracer, self.timekeeper) = (tracer, timekeeper)
    }

    package func respond(to request: HTTPRequest) -> HTTPReply {
        let exchange = exchange(for: request, at: routes.route(of: request.target), request.body?.count ?? 0)
        do {
            if let answer = try check(exchange) { return sent(answer, exchange) }
            guard request.method == .post, exchange.route.takesBody else {
                return finished(try routes.reply(to: request, exchange), exchange)
            }
            let body = try routes.body(of: request, exchange)
            guard request.hasBody else { throw APIError.lengthRequired }
            return finished(body.respond(to: request), exchange)
        } catch {
            return sent(failures.answer(to: error, exchange), exchange)
        }
    }

    package func bodyPolicy(for request: HTTPRequest) -> BodyPolicy? {
        let route = routes.route(of: request.target)
        let maximum = routes.maximumBodyLength(at: route)
        guard maximum > 0 else { return nil }
        return BodyPolicy(maximumLength: maximum) { [self] request, length in
            // The request's time begins here.
            let exchange = exchange(for: request, at: route, length)
            do {
                if let answer = try check(exchange) { return .rejected(completed(answer, exchange)) }
                return .accepted(Reservation(try routes.body(of: request, exchange), exchange, self))
            } catch {
                return .rejected(completed(failures.answer(to: error, exchange), exchange))
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

    private func check(_ exchange: Exchange) throws(APIError) -> Answer? {
        for concern in checks {
            if let answer = try concern.check(exchange) { return answer }
        }
        return nil
    }

    private func finished(_ reply: Reply, _ exchange: Exchange) -> HTTPReply {
        switch reply {
        case .ready(let answer): return sent(answer, exchange)
        case .recurring(let response, let responder): return .recurring(response, by: responder)
        case .later(let later):
            do throws(APIError) {
                return pending(later, exchange, end: try begin(exchange))
            } catch {
                return sent(failures.answer(to: error, exchange), exchange)
            }
        }
    }

    private func begin(_ exchange: Exchange) throws(APIError) -> @Sendable () -> Void {
        var ends: [@Sendable () -> Void] = []
        do throws(APIError) {
            for concern in waits {
                if let end = try concern.begin(exchange) { ends.append(end) }
            }
        } catch {
            for end in ends { end() }
            throw error
        }
        return { [ends] in for end in ends { end() } }
    }

    /// Calls `end` when the answer is complete, or abandoned.
    private func pending(_ later: Reply.Later, _ exchange: Exchange, end: @escaping @Sendable () -> Void) -> HTTPReply {
        switch later {
        case .task(let work):
            return .deferred { [self] in
                defer { end() }
                return await RequestTrace.$current.withValue(exchange.trace) {
                    let answer = await work()
                    return await withFallbackImage(answer, completed(answer, exchange), exchange)
                }
            }
        case .wait(let wait):
            return .waiting(
                ShortWait(begin: wait.begin) { [self] in
                    let reply = wait.reply()
                    if case .later(let later) = reply { return pending(later, exchange, end: end) }
                    end()
                    return finished(reply, exchange)
                } onAbandon: { [self] in
                    _ = completed(wait.onAbandon(), exchange)
                    end()
                })
        }
    }

    private func sent(_ answer: Answer, _ exchange: Exchange) -> HTTPReply {
        let response = completed(answer, exchange)
        if answer.fallbackImage == nil { return .ready(response) }
        return .deferred { [self] in await withFallbackImage(answer, response, exchange) }
    }

    private func withFallbackImage(
        _ answer: Answer, _ response: HTTPResponse, _ exchange: Exchange
    ) async -> HTTPResponse {
        guard let image = answer.fallbackImage, let fallbackImages else { return response }
        return await fallbackImages.response(image, replacing: response, exchange.id)
    }

    private func completed(_ answer: Answer, _ exchange: Exchange) -> HTTPResponse {
        var answer = answer
        let now = timekeeper.now
        for concern in completions { concern.complete(&answer, to: exchange, at: now) }
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
