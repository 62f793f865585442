package import Coordination
import Crypto
import Glibc
package import Imaging
package import Memory
package import Recipes
package import Telemetry

/// Decodes images, and encodes those whose encoder cannot be stopped, in confined worker processes.
///
/// If a worker ends, another one retries its image. An image that ends two workers, or one worker by a forbidden
/// action, counts as damaged, and its content is rejected for a while. So does work that keeps a processor busy beyond
/// its deadline, because a second attempt would take as long.
package final class SandboxedCodec: ImageCodec {
    package let protections: Protections
    private let decoders: WorkerRoster
    /// Encoders never read files, so that no file can take control of their output, which is sent to clients unchanged.
    private let encoderState = Locked(Encoders.notNeeded)
    private let configuration: SandboxConfiguration
    private let metrics: SandboxMetrics
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let damagedContents: Locked<Quarantine<QuarantinedInput>>
    private let timedOutJobs: Locked<Quarantine<QuarantineKey>>
    /// Files whose decode took far more CPU time than estimated; they are decoded as expensive work.
    private let underestimatedContents: Locked<Quarantine<SHA256Digest>>

    private enum Encoders {
        case notNeeded, stopped
        case started(WorkerRoster)
    }

    private struct Fault: Error {
        let detail: String
    }

    private struct ProcessorTimeExceeded: Error {}

    package init(
        _ configuration: SandboxConfiguration, registry: MetricsRegistry, logger: Logger, timekeeper: any Timekeeper
    ) throws(WorkerLaunch.Failure) {
        metrics = SandboxMetrics(registry: registry)
        self.logger = logger
        self.timekeeper = timekeeper
        self.configuration = configuration
        damagedContents = Locked(Quarantine(duration: configuration.quarantine))
        timedOutJobs = Locked(Quarantine(duration: configuration.quarantine))
        underestimatedContents = Locked(Quarantine(duration: configuration.quarantine))
        do {
            decoders = try WorkerRoster(
                configuration, workerCount: configuration.decoderCount, lifetime: configuration.decoderLifetime,
                metrics: metrics, logger: logger)
        } catch {
            throw WorkerLaunch.Failure(description: "\(error)")
        }
        do {
            protections = try decoders.blockingProtections()
        } catch {
            decoders.shutDown()
            throw error
        }
        registry.gauge("alula_decode_workers", help: "Worker processes that are ready or busy.", counting: "process") {
            [weak self] in [([], Double(self?.processCount ?? 0))]
        }
    }

    package func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try token.check()
        try plan.check(header, limits: limits)
        let (bytes, header) = try header.decodedFile(in: bytes)
        if limits.endsUnderestimatedDecodes { try rejectUnderestimated(bytes) }
        let job = WorkerJob(
            work: .decode(plan), bytes: bytes, maximumResultBytes: header.maximumPixelBytes(of: plan),
            // A process uses more address space than memory.
            memory: 2 * min(header.cost(of: plan, fileByteCount: bytes.count), 1 << 46),
            processorTime: configuration.processorTime(
                ofDecoding: header, by: plan, fileByteCount: bytes.count, limits: limits),
            token: token)
        do {
            let image = try perform(job, by: decoders) { response, output in
                guard case .decoded(let claim) = response else { throw Fault(detail: "unexpected response") }
                return try claim.image(in: &output, of: header, by: plan)
            }
            metrics.decoded(image)
            return image
        } catch is ProcessorTimeExceeded {
            guard limits.endsUnderestimatedDecodes else {
                let fault = quarantine(job, detail: "a worker needed far more CPU time than estimated from the header")
                throw ImagingError.cannotDecode(detail: fault.detail)
            }
            underestimatedContents.withLock { $0.insert(bytes.withBytes { SHA256.hash($0) }, at: timekeeper.now) }
            throw UnderestimatedDecode()
        } catch let fault as Fault {
            throw ImagingError.cannotDecode(detail: fault.detail)
        }
    }

    package func encode(
        _ image: DecodedImage, as format: ImageFormat, settings: EncoderSettings, token: WorkToken
    ) throws -> SharedBytes {
        try token.check()
        var description = image.description
        description.delays = []
        let job = WorkerJob(
            work: .encode(description, as: format, settings: settings, delays: image.delays.count),
            bytes: image.pixelsAndDelays,
            maximumResultBytes: WorkerResponse.maximumFileBytes(of: image.size, frames: image.frames), token: token)
        do {
            return try perform(job, by: startedEncoders()) { response, output in
                guard case .encoded(let byteCount) = response else { throw Fault(detail: "unexpected response") }
                return try WorkerResponse.file(
                    byteCount: byteCount, in: &output, format: format, size: image.size, frames: image.frames)
            }
        } catch let fault as Fault {
            throw ImagingError.encodeFailed(detail: fault.detail)
        }
    }

    package func faces(_ search: FaceSearch, token: WorkToken) throws -> [Face] {
        try token.check()
        let job = WorkerJob(
            work: .findFaces(search.size), bytes: search.bytes, maximumResultBytes: 1, memory: FaceSearch.memory,
            processorTime: configuration.processorTime(forCostOf: FaceSearch.time), token: token)
        do {
            return try perform(job, by: decoders) { response, _ in
                guard case .faces(let faces) = response else { throw Fault(detail: "unexpected response") }
                return faces
            }
        } catch is ProcessorTimeExceeded {
            throw ImagingError.cannotDecode(detail: "a worker needed far more CPU time to find faces than estimated")
        } catch let fault as Fault {
            throw ImagingError.cannotDecode(detail: fault.detail)
        }
    }

    package func shutDown() {
        decoders.shutDown()
        let started = encoderState.withLock { state -> WorkerRoster? in
            defer { state = .stopped }
            guard case .started(let roster) = state else { return nil }
            return roster
        }
        started?.shutDown()
    }

    var idleProcesses: [CInt] { decoders.idleProcesses }

    var encoders: WorkerRoster? {
        encoderState.withLock { if case .started(let roster) = $0 { roster } else { nil } }
    }

    private var processCount: Int { decoders.processes.count + (encoders?.processes.count ?? 0) }

    private func startedEncoders() throws -> WorkerRoster {
        try encoderState.withLock { state in
            switch state {
            case .started(let roster): return roster
            case .stopped: throw WorkerPool.Stopped()
            case .notNeeded: break
            }
            do throws(SharedMemoryError) {
                let roster = try WorkerRoster(
                    configuration, workerCount: configuration.encoderCount, lifetime: configuration.encoderLifetime,
                    atLeast: protections, metrics: metrics, logger: logger)
                state = .started(roster)
                return roster
            } catch {
                throw WorkerUnavailable(detail: "\(error.step): error \(error.number)")
            }
        }
    }

    /// Performs a job in a worker; if the worker ends, retries once in another one.
    private func perform<Result>(
        _ job: WorkerJob, by roster: WorkerRoster, read: (WorkerResponse, inout OutputMemory) throws -> Result
    ) throws -> Result {
        try rejectQuarantined(job)
        do {
            if let result = try attempt(job, by: roster, isLast: false, read: read) { return result }
            if let result = try attempt(job, by: roster, isLast: true, read: read) { return result }
        } catch let error as SharedMemoryError {
            throw WorkerUnavailable(detail: "\(error.step): error \(error.number)")
        }
        throw CancellationError()
    }

    /// Performs a job in one worker; returns nil if the worker ended and another one may try.
    private func attempt<Result>(
        _ job: WorkerJob, by roster: WorkerRoster, isLast: Bool,
        read: (WorkerResponse, inout OutputMemory) throws -> Result
    ) throws -> Result? {
        let worker = try roster.acquire(token: job.token)
        let outcome: WorkerProcess.Outcome<Result>
        do {
            outcome = try worker.perform(job, read: read)
        } catch {
            // The worker got no request or has answered it, so it is still usable.
            roster.release(worker)
            throw error
        }
        return try result(of: outcome, by: worker, of: roster, for: job, isLast: isLast)
    }

    /// Handles the outcome and returns or ends the worker; returns nil if another worker may try.
    private func result<Result>(
        of outcome: WorkerProcess.Outcome<Result>, by worker: WorkerProcess, of roster: WorkerRoster,
        for job: WorkerJob, isLast: Bool
    ) throws -> Result? {
        switch outcome {
        case .done(let result):
            roster.release(worker)
            return result
        case .failed(let text):
            roster.release(worker)
            throw Fault(detail: text)
        case .unreliable(let text):
            roster.terminate(worker, cause: .recycled)
            throw Fault(detail: text)
        case .outOfMemory:
            // A new process may succeed, because this one's allocator may keep freed memory.
            roster.terminate(worker, cause: .recycled)
            if isLast { throw SharedMemoryError("a worker's memory", number: ENOMEM) }
            metrics.retries.increment()
        case .interrupted(let wasBusy):
            roster.terminate(worker, cause: job.token.isCancelled ? .canceled : .deadline)
            // If the worker got little CPU time, the machine may be overloaded and the image harmless.
            if wasBusy, !job.token.isCancelled {
                let digest = reportQuarantine(of: job.bytes, reason: "a worker was busy past the deadline")
                timedOutJobs.withLock { $0.insert(QuarantineKey(digest: digest, work: job.work), at: timekeeper.now) }
            }
            try job.token.check()
        case .processorTimeExceeded:
            roster.terminate(worker, cause: .processorTimeExceeded)
            throw ProcessorTimeExceeded()
        case .protocolError(let text):
            roster.terminateUntrusted(worker, cause: .protocolError, reason: text)
            throw quarantine(job, detail: "a worker sent an invalid response: \(text)")
        case .forbidden(let call):
            roster.terminateUntrusted(worker, cause: .forbiddenCall, reason: "it tried the system call \(call)")
            throw quarantine(job, detail: "a worker tried the system call \(call)")
        case .ended:
            let end = roster.reap(worker)
            if end.cause == .outOfMemory, isLast { throw SharedMemoryError("a worker's memory", number: ENOMEM) }
            if [.forbiddenCall, .limit].contains(end.cause) || isLast {
                throw quarantine(job, detail: "a worker \(end)")
            }
            metrics.retries.increment()
        }
        return nil
    }

    private func rejectQuarantined(_ job: WorkerJob) throws {
        let now = timekeeper.now
        let isAnyContentDamaged = !damagedContents.withLock { $0.isEmpty(at: now) }
        let hasTimedOutJobs = !timedOutJobs.withLock { $0.isEmpty(at: now) }
        guard isAnyContentDamaged || hasTimedOutJobs else { return }
        let key = QuarantineKey(digest: job.bytes.withBytes { SHA256.hash($0) }, work: job.work)
        if damagedContents.withLock({ $0.contains(QuarantinedInput(key), at: now) }) {
            throw Fault(detail: "the file recently crashed a worker process")
        }
        if timedOutJobs.withLock({ $0.contains(key, at: now) }) {
            throw DeadlineExceeded()
        }
    }

    private func rejectUnderestimated(_ bytes: SharedBytes) throws(UnderestimatedDecode) {
        let now = timekeeper.now
        guard !underestimatedContents.withLock({ $0.isEmpty(at: now) }) else { return }
        let digest = bytes.withBytes { SHA256.hash($0) }
        if underestimatedContents.withLock({ $0.contains(digest, at: now) }) { throw UnderestimatedDecode() }
    }

    /// Quarantines the input of a job, and returns the error for it.
    private func quarantine(_ job: WorkerJob, detail: String) -> Fault {
        let key = QuarantineKey(digest: reportQuarantine(of: job.bytes, reason: detail), work: job.work)
        damagedContents.withLock { $0.insert(QuarantinedInput(key), at: timekeeper.now) }
        return Fault(detail: detail)
    }

    private func reportQuarantine(of bytes: SharedBytes, reason: String) -> SHA256Digest {
        let digest = bytes.withBytes { SHA256.hash($0) }
        metrics.quarantined.increment()
        logger.warning("file quarantined", ["sha256": .string(digest.hexadecimal), "reason": .string(reason)])
        return digest
    }
}
