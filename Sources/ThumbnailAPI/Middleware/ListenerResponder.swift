import Coordination
import Dialects
package import HTTPTypes
import Memory
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// Passes the requests of a listener through its middleware to its routes.
package final class ListenerResponder: RequestResponder {
    private let middleware: Middleware
    private let routes: ListenerRoutes
    private let failures: FailureWriter
    private let fallbackImages: FallbackImages?
    private let retirement: Retirement
    private let timekeeper: any Timekeeper

    init(
        _ middleware: Middleware, routes: ListenerRoutes, failures: FailureWriter,
        fallbackImages: FallbackImages? = nil, retirement: Retirement = Retirement(), timekeeper: any Timekeeper
    ) {
        self.middleware = middleware
        self.routes = routes
        self.failures = failures
        self.fallbackImages = fallbackImages
        self.retirement = retirement
        self.timekeeper = timekeeper
    }

    /// Stops the reuse of responses that this responder built; called after a reload.
    func retire() { retirement.record() }

    package func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse> {
        let (routes, tenant) = routes.table(for: request)
        let context = context(
            of: request, at: routes.route(of: request.target), bodyLength: request.body?.count ?? 0, tenant: tenant)
        do {
            if let outcome = try middleware.check(context) { return responseOrFallbackImage(outcome, to: context) }
            guard request.method == .post, context.route.takesBody else {
                return counted(try routes.respond(to: request, in: context), for: context)
            }
            let body = try routes.body(of: request, in: context)
            guard request.hasBody else { throw APIError.lengthRequired }
            return counted(body.respond(to: request), for: context)
        } catch {
            return responseOrFallbackImage(failures.outcome(of: error, in: context), to: context)
        }
    }

    package func bodyPolicy(for request: HTTPRequest) -> BodyPolicy? {
        let (routes, tenant) = routes.table(for: request)
        let route = routes.route(of: request.target)
        let maximum = routes.maximumBodyLength(at: route)
        guard maximum > 0 else { return nil }
        return BodyPolicy(maximumLength: maximum) { [self] request, length in
            // The request's time starts here.
            let context = context(of: request, at: route, bodyLength: length, tenant: tenant)
            do {
                if let outcome = try middleware.check(context) { return .rejected(finalResponse(outcome, to: context)) }
                return .accepted(
                    Reservation(try routes.body(of: request, in: context), context: context, responder: self))
            } catch {
                return .rejected(finalResponse(failures.outcome(of: error, in: context), to: context))
            }
        }
    }

    package func response(to rejection: HTTPRejection) -> HTTPResponse {
        let context = context(of: nil, at: .none, bodyLength: 0, tenant: nil)
        return finalResponse(failures.outcome(of: rejection.error, in: context), to: context)
    }

    private func context(
        of request: HTTPRequest?, at route: Route, bodyLength: Int?, tenant: RequestTenant?
    ) -> RequestContext {
        var context = RequestContext(
            request: request, bodyLength: bodyLength, startedAt: timekeeper.now, route: route, tenant: tenant)
        middleware.prepare(&context)
        return context
    }

    /// Counts the request as waiting unless its response is ready.
    private func counted(
        _ pending: PendingResponse<Outcome>, for context: RequestContext
    ) -> PendingResponse<HTTPResponse> {
        switch pending {
        case .ready(let outcome): return responseOrFallbackImage(outcome, to: context)
        case .recurring(let response, let responder): return .recurring(response, by: responder)
        case .deferred, .waiting:
            do throws(APIError) {
                return waiting(pending, for: context, end: try middleware.beginWait(context))
            } catch {
                return responseOrFallbackImage(failures.outcome(of: error, in: context), to: context)
            }
        }
    }

    /// Calls `end` when the response is complete, or abandoned.
    private func waiting(
        _ pending: PendingResponse<Outcome>, for context: RequestContext, end: @escaping @Sendable () -> Void
    ) -> PendingResponse<HTTPResponse> {
        switch pending {
        case .ready, .recurring:
            end()
            return counted(pending, for: context)
        case .deferred(let work):
            return .deferred { [self] in
                defer { end() }
                return await RequestTrace.$current.withValue(context.trace) {
                    let outcome = await work()
                    // Complete before the fallback image replaces the response, so that logs and metrics record the
                    // failure.
                    let response = finalResponse(outcome, to: context)
                    return await withFallbackImage(outcome, replacing: response, in: context)
                }
            }
        case .waiting(let wait):
            return .waiting(
                ShortWait(begin: wait.begin) { [self] in
                    waiting(wait.finish(), for: context, end: end)
                } abandon: { [self] in
                    defer { end() }
                    return finalResponse(wait.abandon(), to: context)
                })
        }
    }

    private func responseOrFallbackImage(
        _ outcome: Outcome, to context: RequestContext
    ) -> PendingResponse<HTTPResponse> {
        let response = finalResponse(outcome, to: context)
        if outcome.fallbackImage == nil { return .ready(response) }
        return .deferred { [self] in await withFallbackImage(outcome, replacing: response, in: context) }
    }

    private func withFallbackImage(
        _ outcome: Outcome, replacing response: HTTPResponse, in context: RequestContext
    ) async -> HTTPResponse {
        let account = context.account(after: outcome.error)
        guard let image = outcome.fallbackImage, let fallbackImages, account?.workRejection() == nil else {
            return response
        }
        let bill = RequestBill(to: account)
        return await fallbackImages.response(image, replacing: response, receipt: context.receipt, bill: bill)
    }

    private func finalResponse(_ outcome: Outcome, to context: RequestContext) -> HTTPResponse {
        var outcome = outcome
        middleware.complete(&outcome, to: context, at: timekeeper.now)
        return outcome.response
    }
}

extension ListenerResponder {
    private final class Reservation: BodyReservation {
        private let body: ArrivingBody
        private let context: RequestContext
        private let responder: ListenerResponder

        init(_ body: ArrivingBody, context: RequestContext, responder: ListenerResponder) {
            self.body = body
            self.context = context
            self.responder = responder
        }

        func rejection(ofLength length: Int) -> HTTPResponse? {
            do {
                try body.grow(to: length)
                return nil
            } catch {
                return responder.finalResponse(responder.failures.outcome(of: error, in: context), to: context)
            }
        }

        func interrupt(by rejection: HTTPRejection) { body.interrupt(by: rejection.error) }

        func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse> {
            responder.counted(body.respond(to: request), for: context)
        }
    }
}
