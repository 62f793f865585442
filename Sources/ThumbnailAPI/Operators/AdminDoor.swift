package import Coordination
import Dialects
import HTTPTypes
package import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

extension Door {
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
            [AdminLog(logger: logger), requestIDs, AllowedMethods(), sites],
            routes: AdminRoutes(
                service, reader: reader, explainer: explainer, workers: workers, bodies: bodies, failures: failures,
                logger: logger, timekeeper: timekeeper),
            failures: failures, requestIDs: requestIDs, timekeeper: timekeeper)
    }
}

private struct AdminLog: AnswerCompletion {
    let logger: Logger

    func complete(_ answer: inout Answer, to exchange: Exchange, at now: Duration) {
        guard let request = exchange.request else { return }
        let error = answer.error
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
                "requestId": .string(exchange.id), "method": .string(request.method.rawValue),
                "path": .string(SourceLabel.text(String(path))), "status": .int(answer.response.status.code),
                "error": .string(error?.code ?? ""), "detail": .string(error?.logDetail ?? ""),
            ])
    }
}

extension AdminSites: RequestCheck {
    func check(_ exchange: Exchange) throws(APIError) -> Answer? {
        switch exchange.route {
        // Load balancers may use any name.
        case .live, .ready: return nil
        default:
            if let request = exchange.request, let violation = violation(to: request) { throw APIError(violation) }
            return nil
        }
    }
}
