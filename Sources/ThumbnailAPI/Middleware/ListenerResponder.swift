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
    private let routes: any RouteTable
    /// The tenants' routes; nil in a service without tenants.
    private let tenants: TenantRoutes?
    /// The account of all requests in a service without tenants; nil with tenants, or if costs are not recorded.
    private let tenant: RequestTenant?
    private let failures: FailureWriter
    private let fallbackImages: FallbackImages?
    private let requestIDs: RequestIDs
    private let trustedProxies: TrustedProxies
    private let tracer: Tracer?
    private let retirement: Retirement
    private let timekeeper: any Timekeeper

    init(
        _ middleware: Middleware, routes: any RouteTable, tenants: TenantRoutes? = nil, tenant: RequestTenant? = nil,
        failures: FailureWriter, fallbackImages: FallbackImages? = nil, requestIDs: RequestIDs,
        trustedProxies: TrustedProxies = TrustedProxies(), tracer: Tracer? = nil,
        retirement: Retirement = Retirement(), timekeeper: any Timekeeper
    ) {
        self.middleware = middleware
        self.routes = routes
        self.tenants = tenants
        self.tenant = tenant
        self.failures = failures
        self.fallbackImages = fallbackImages
        self.requestIDs = requestIDs
        self.trustedProxies = trustedProxies
        self.tracer = tracer
        self.retirement = retirement
        self.timekeeper = timekeeper
    }

    /// Stops the reuse of responses that this responder built; called after a reload.
    func retire() { retirement.record() }

    package func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse> {
        let (routes, tenant) = table(for: request)
        let context = context(
            of: request, at: routes.route(of: request.target), bodyLength: request.body?.count ?? 0, tenant: tenant)
        do {
            if let outcome = try check(context) { return responseOrFallbackImage(outcome, to: context) }
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
        let (routes, tenant) = table(for: request)
        let route = routes.route(of: request.target)
        let maximum = routes.maximumBodyLength(at: route)
        guard maximum > 0 else { return nil }
        return BodyPolicy(maximumLength: maximum) { [self] request, length in
            // The request's time starts here.
            let context = context(of: request, at: route, bodyLength: length, tenant: tenant)
            do {
                if let outcome = try check(context) { return .rejected(finalResponse(outcome, to: context)) }
                return .accepted(
                    Reservation(try routes.body(of: request, in: context), context: context, responder: self))
            } catch {
                return .rejected(finalResponse(failures.outcome(of: error, in: context), to: context))
            }
        }
    }

    package func response(to rejection: HTTPRejection) -> HTTPResponse {
        let context = RequestContext(
            request: nil, bodyLength: 0, receipt: requestIDs.next(), startedAt: timekeeper.now, route: .none,
            client: nil, isProxied: false, trace: nil)
        return finalResponse(failures.outcome(of: rejection.error, in: context), to: context)
    }

    private func table(for request: HTTPRequest) -> (routes: any RouteTable, tenant: RequestTenant?) {
        guard let tenants else { return (routes, tenant) }
        return tenants.table(for: request)
    }

    private func context(
        of request: HTTPRequest, at route: Route, bodyLength: Int?, tenant: RequestTenant?
    ) -> RequestContext {
        let (client, isProxied) = trustedProxies.sender(of: request)
        let parent = isProxied ? request.headerFields[.traceparent].flatMap { TraceContext(traceparent: $0) } : nil
        return RequestContext(
            request: request, bodyLength: bodyLength, receipt: requestIDs.next(), startedAt: timekeeper.now,
            route: route, client: client, isProxied: isProxied, trace: tracer?.begin(continuing: parent), tenant: tenant
        )
    }

    private func check(_ context: RequestContext) throws(APIError) -> Outcome? {
        for check in middleware.checks {
            if let outcome = try check.check(context) { return outcome }
        }
        return nil
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
                return waiting(pending, for: context, end: try beginWait(context))
            } catch {
                return responseOrFallbackImage(failures.outcome(of: error, in: context), to: context)
            }
        }
    }

    /// Starts the wait in all counters; returns a closure that ends it.
    private func beginWait(_ context: RequestContext) throws(APIError) -> @Sendable () -> Void {
        var ends: [@Sendable () -> Void] = []
        do throws(APIError) {
            for counter in middleware.counters {
                if let end = try counter.begin(context) { ends.append(end) }
            }
        } catch {
            for end in ends { end() }
            throw error
        }
        return { [ends] in for end in ends { end() } }
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

    /// Returns the response after all completions.
    private func finalResponse(_ outcome: Outcome, to context: RequestContext) -> HTTPResponse {
        var outcome = outcome
        let now = timekeeper.now
        for completion in middleware.completions { completion.complete(&outcome, to: context, at: now) }
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
