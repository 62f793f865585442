package import Coordination
import Dialects
import HTTPTypes
package import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

extension ListenerResponder {
    /// - Parameter sites: The names of the listener, and the sites that may write to it.
    package convenience init(
        administering service: AdministeredService, sites: AdminSites, reader: PrefetchReader,
        explainer: TargetExplainer, workers: WorkerPool, bodies: BodyMemory, logger: Logger,
        timekeeper: any Timekeeper
    ) {
        let failures = FailureWriter(
            common: CommonFields.operators.strict, revealsRules: true, lifecycle: service.lifecycle)
        let requestIDs = RequestIDs()
        self.init(
            Middleware(checks: [sites], completions: [AllowedMethods(), requestIDs, AdminLog(logger: logger)]),
            routes: AdminRoutes(
                service, reader: reader, explainer: explainer, workers: workers, bodies: bodies, failures: failures,
                logger: logger, timekeeper: timekeeper),
            failures: failures, requestIDs: requestIDs, timekeeper: timekeeper)
    }
}

private struct AdminLog: ResponseCompletion {
    let logger: Logger

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        guard let request = context.request else { return }
        let error = outcome.error
        let level: Logger.Level =
            switch error?.category {
            case .internal: .error
            case .policy: .warning
            default: request.method == .delete || request.method == .post ? .info : .debug
            }
        let path = request.target.prefix(before: UInt8(ascii: "?"))
        logger.log(
            level, "operator request",
            [
                "requestId": .string(context.id), "method": .string(request.method.rawValue),
                "path": .string(SourceLabel.text(String(path))), "status": .int(outcome.response.status.code),
                "error": .string(error?.code ?? ""), "detail": .string(error?.logDetail ?? ""),
            ])
    }
}

extension AdminSites: RequestCheck {
    func check(_ context: RequestContext) throws(APIError) -> Outcome? {
        switch context.route {
        // Load balancers may use any name.
        case .live, .ready: return nil
        default:
            if let request = context.request, let violation = violation(to: request) { throw APIError(violation) }
            return nil
        }
    }
}
