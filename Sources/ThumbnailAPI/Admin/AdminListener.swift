package import Coordination
import Dialects
import HTTPTypes
package import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

extension ListenerResponder {
    /// - Parameter sites: The host names of the listener, and the sites that may write to it.
    package convenience init(
        administering service: AdministeredService, sites: AdminSites, token: AdminToken = AdminToken(nil),
        reader: PrefetchReader, explainer: TargetExplainer, workers: WorkerPool, bodies: BodyMemory, logger: Logger,
        timekeeper: any Timekeeper
    ) {
        let failures = FailureWriter(
            common: CommonFields.admin.strict, revealsRules: true, lifecycle: service.lifecycle)
        let routes = AdminRoutes(
            service: service, reader: reader, explainer: explainer, workers: workers, bodies: bodies,
            failures: failures, timekeeper: timekeeper)
        self.init(
            Middleware([
                TrustedProxies(), AdminLog(logger: logger), RequestIDs(), sites, token, AllowedMethods(),
            ]),
            routes: .single(routes), failures: failures, timekeeper: timekeeper)
    }
}

extension AdminSites: RequestCheck {
    func check(_ context: RequestContext) throws(APIError) -> Outcome? {
        switch context.route {
        // Load balancers may send any host name.
        case .live, .ready: return nil
        default:
            if let request = context.request, let violation = violation(to: request) { throw APIError(violation) }
            return nil
        }
    }
}
