import Coordination
import Telemetry

/// Starts workers as copies of a template, or as new programs if there is none.
///
/// Used by one thread; the template and the workers end with it.
struct WorkerSpawner {
    private let launch: WorkerLaunch
    private let logger: Logger
    private(set) var template: WorkerTemplate?
    private var nextTemplateStart = Duration.zero
    private static let pauseAfterFailure = Duration.seconds(60)

    init(_ launch: WorkerLaunch, logger: Logger) {
        self.launch = launch
        self.logger = logger
    }

    mutating func start() throws(WorkerLaunch.Failure) -> WorkerProcess {
        do {
            if let worker = try launch.startForked() { return worker }
        } catch {
            logger.warning("forked worker process unusable", ["reason": .string(error.description)])
        }
        if template?.isUsedUp == true { endTemplate() }
        let now = SystemTimekeeper().now
        if now >= nextTemplateStart {
            do throws(WorkerLaunch.Failure) {
                let template: WorkerTemplate
                if let current = self.template {
                    template = current
                } else {
                    template = try launch.startTemplate()
                    self.template = template
                }
                return try launch.start(copying: template)
            } catch {
                logger.warning("a worker process starts without a template", ["reason": .string(error.description)])
                // Replace a killed template immediately; one that never worked probably never will.
                if template?.copies ?? 0 == 0 { nextTemplateStart = now + Self.pauseAfterFailure }
                endTemplate()
            }
        }
        return try launch.start()
    }

    mutating func endTemplate() {
        template?.end()
        template = nil
    }
}
