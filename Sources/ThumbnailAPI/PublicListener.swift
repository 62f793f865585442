package import Coordination
import Dialects
import HTTPTypes
import Memory
package import Telemetry
package import ThumbnailPipeline

extension ListenerResponder {
    package convenience init(
        _ configuration: APIConfiguration, thumbnails: any ThumbnailServing, lifecycle: ServiceLifecycle,
        logger: Logger, metrics: APIMetrics, timekeeper: any Timekeeper, bodies: BodyMemory,
        resultWriter: ResultWriter = ResultWriter(), events: EventLog = EventLog(), slowRequests: SlowRequests? = nil,
        clientLimit: ClientLimit? = nil, tracer: Tracer? = nil
    ) {
        let fields = CommonFields(allowOrigin: configuration.allowOrigin)
        let failures = FailureWriter(
            common: fields.strict, revealsRules: configuration.revealsRules, lifecycle: lifecycle)
        let log = AccessLog(configuration.accessLog, logger: logger)
        let requestIDs = RequestIDs()
        let replacement = Replacement()
        let routes = PublicRoutes(
            configuration.dialects.map { ImageRoute($0, isOpen: configuration.isOpen($0), metrics: metrics) },
            thumbnails: ThumbnailResponder(
                configuration, thumbnails: thumbnails, failures: failures,
                repeated: RepeatedResponses(
                    thumbnails: thumbnails, lifecycle: lifecycle, replacement: replacement,
                    isLoggingAll: log.isLoggingAll, tracer: tracer, timekeeper: timekeeper,
                    fields: ThumbnailFields(common: fields.strict, cacheTagField: configuration.cacheTagField)),
                timekeeper: timekeeper),
            submissions: SubmissionResponder(
                configuration: configuration, thumbnails: thumbnails, resultWriter: resultWriter, bodies: bodies,
                failures: failures, events: events, timekeeper: timekeeper),
            files: EmbeddedFiles(EmbeddedFile.ofClients, common: fields, page: PageConfiguration(configuration)),
            health: HealthResponses(failures: failures))
        self.init(
            Middleware(
                checks: [
                    LoopDetection(name: configuration.loopName),
                    CrossOrigin(isAllowed: configuration.allowOrigin != nil, common: fields.strict),
                ],
                counters: [clientLimit ?? ClientLimit(configuration.maximumRequestsPerClient), metrics],
                completions: [ServerTiming(), metrics, Tracing(), log, requestIDs, AllowedMethods()]
                    + (slowRequests.map { [$0] } ?? [])),
            routes: routes, failures: failures, fallbackImages: FallbackImages(thumbnails: thumbnails),
            requestIDs: requestIDs, trustedProxies: configuration.trustedProxies, tracer: tracer,
            replacement: replacement, timekeeper: timekeeper)
    }
}
