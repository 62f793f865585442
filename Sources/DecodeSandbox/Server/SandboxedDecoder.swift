package import Coordination
import Crypto
package import Imaging
package import Memory
package import Telemetry

/// Decodes in processes that can do nothing else, so that a picture which takes one of them over has won nothing.
///
/// A worker that ends takes nobody's picture with it: another one is given the picture. A picture that ends two, or one by what
/// is forbidden, is damaged, and its content is not looked at for a while; no more is one that keeps a processor busy past its deadline.
package final class SandboxedDecoder: ImageDecoding {
    /// What protects the service from the workers.
    package let protections: Protections
    private let roster: WorkerRoster
    private let metrics: SandboxMetrics
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let quarantine: Locked<Quarantine>

    /// Starts the workers, and returns when the first is ready.
    ///
    /// - Throws: ``WorkerLaunch/Failure`` where none can be started.
    package init(
        _ configuration: SandboxConfiguration, registry: MetricsRegistry, logger: Logger, timekeeper: any Timekeeper
    ) throws(WorkerLaunch.Failure) {
        metrics = SandboxMetrics(registry: registry)
        self.logger = logger
        self.timekeeper = timekeeper
        quarantine = Locked(Quarantine(duration: configuration.quarantine))
        let roster: WorkerRoster
        do {
            roster = try WorkerRoster(configuration, metrics: metrics, logger: logger)
        } catch {
            throw WorkerLaunch.Failure(description: "\(error)")
        }
        self.roster = roster
        do {
            protections = try roster.blockingFirst()
        } catch {
            roster.shutDown()
            throw error
        }
        registry.gauge("alula_decode_workers", help: "Decode workers that are ready or at work.") {
            [([], Double(roster.count))]
        }
    }

    /// Decodes in a worker; in a second one where the first ends.
    ///
    /// - Throws: Also ``DecodingUnavailable``.
    package func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try token.check()
        try ImageDecoder.check(header, plan: plan, limits: limits)
        try refuseQuarantined(bytes)
        do {
            for isLast in [false, true] {
                let worker = try roster.take(token)
                let outcome: WorkerProcess.Outcome
                do {
                    outcome = try worker.decode(bytes, header: header, plan: plan, token: token)
                } catch {
                    // Nothing was asked of it, or it has answered.
                    roster.giveBack(worker)
                    throw error
                }
                switch outcome {
                case .decoded(let image):
                    roster.giveBack(worker)
                    return image
                case .failed(let text):
                    roster.giveBack(worker)
                    throw ImagingError.cannotDecode(detail: text)
                case .interrupted(let wasBusy):
                    roster.dismiss(worker, token.isCancelled ? .cancelled : .deadline)
                    // Where the machine had no time for it, the picture may be innocent.
                    if wasBusy, !token.isCancelled { condemn(bytes, "a worker was at it past its deadline") }
                    try token.check()
                case .breach(let text):
                    roster.dismiss(worker, .violation)
                    throw condemned(bytes, "a worker lied: \(text)")
                case .lost:
                    let end = roster.bury(worker)
                    if end.isViolation || isLast { throw condemned(bytes, "a worker \(end)") }
                    metrics.retries.increment()
                }
            }
        } catch let error as SharedMemoryError {
            throw DecodingUnavailable(detail: "\(error.step): error \(error.number)")
        }
        throw CancellationError()
    }

    /// The processes that are ready, the next to be used last.
    var idleProcesses: [CInt] { roster.idleProcesses }

    /// Ends the workers.
    package func shutDown() { roster.shutDown() }

    private func refuseQuarantined(_ bytes: SharedBytes) throws(ImagingError) {
        let now = timekeeper.now
        if quarantine.withLock({ $0.isEmpty(at: now) }) { return }
        let digest = bytes.withBytes { SHA256.hash($0) }
        if quarantine.withLock({ $0.contains(digest, at: now) }) {
            throw .cannotDecode(detail: "the content ended workers a short while ago")
        }
    }

    private func condemned(_ bytes: SharedBytes, _ detail: String) -> ImagingError {
        condemn(bytes, detail)
        return .cannotDecode(detail: detail)
    }

    private func condemn(_ bytes: SharedBytes, _ detail: String) {
        let digest = bytes.withBytes { SHA256.hash($0) }
        quarantine.withLock { $0.insert(digest, at: timekeeper.now) }
        metrics.quarantined.increment()
        logger.warning(
            "content in quarantine", ["sha256": .string(digest.hexadecimal), "reason": .string(detail)])
    }
}

/// The machine has no room to hand a picture over; not the picture's fault.
package struct DecodingUnavailable: Error {
    /// For logs.
    package let detail: String
}
