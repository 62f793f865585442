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
    private struct Exhausted: Error {}

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
                configuration, workerCount: configuration.decoderCount, life: configuration.decoderLifetime,
                metrics: metrics, logger: logger)
        } catch {
            throw WorkerLaunch.Failure(description: "\(error)")
        }
        do {
            protections = try decoders.blockingFirst()
        } catch {
            decoders.shutDown()
            throw error
        }
        registry.gauge("alula_decode_workers", help: "Worker processes that are ready or busy.", counting: "process") {
            [weak self] in
            [([], Double(self?.processCount ?? 0))]
        }
    }

    package func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try token.check()
        try plan.check(header, limits: limits)
        let (bytes, header) = try header.decodedFile(in: bytes)
        do {
            // A process uses more address space than memory.
            let memory = 2 * min(header.cost(of: plan, fileByteCount: bytes.count), 1 << 46)
            // The estimated cost determined the lane and the wait. A file that needs far more has a false header.
            let cost = header.timeCost(of: plan, fileByteCount: bytes.count)
            let processorTime =
                limits.endsUnderestimatedDecodes
                ? configuration.processorTime(forSmallCostOf: cost)
                : configuration.processorTime(forCostOf: cost, runs: header.runsTime(of: plan))
            if limits.endsUnderestimatedDecodes { try rejectUnderestimated(bytes) }
            let image = try perform(
                .decode(plan), on: bytes, room: header.maximumPixelBytes(of: plan), by: decoders, memory: memory,
                processorTime: processorTime, token: token
            ) { answer, output in
                guard case .decoded(let claim) = answer else { throw Fault(detail: "unexpected answer") }
                return try claim.image(in: &output, of: header, by: plan)
            }
            metrics.decoded(image)
            return image
        } catch is Exhausted {
            guard limits.endsUnderestimatedDecodes else {
                throw ImagingError.cannotDecode(
                    detail: quarantined(
                        bytes, work: .decode(plan),
                        detail: "a worker needed far more CPU time than estimated from the header"
                    )
                    .detail)
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
        let work = WorkerRequest.Work.encode(description, as: format, settings: settings, delays: image.delays.count)
        do {
            let room = WorkerResponse.maximumFileBytes(of: image.size, frames: image.frames)
            return try perform(work, on: image.pixelsAndDelays, room: room, by: startedEncoders(), token: token) {
                answer, output in
                guard case .encoded(let byteCount) = answer else { throw Fault(detail: "unexpected answer") }
                return try WorkerResponse.file(
                    byteCount: byteCount, in: &output, format: format, size: image.size, frames: image.frames)
            }
        } catch let fault as Fault {
            throw ImagingError.encodeFailed(detail: fault.detail)
        }
    }

    package func faces(_ search: FaceSearch, token: WorkToken) throws -> [Face] {
        try token.check()
        do {
            return try perform(
                .findFaces(search.size), on: search.bytes, room: 1, by: decoders, memory: FaceSearch.memory,
                processorTime: configuration.processorTime(forCostOf: FaceSearch.time), token: token
            ) { answer, _ in
                guard case .faces(let faces) = answer else { throw Fault(detail: "unexpected answer") }
                return faces
            }
        } catch is Exhausted {
            throw ImagingError.cannotDecode(detail: "a worker needed far more CPU time to find faces than estimated")
        } catch let fault as Fault {
            throw ImagingError.cannotDecode(detail: fault.detail)
        }
    }

    /// Runs `work` in a worker; if the worker ends, retries once in another one.
    private func perform<Result>(
        _ work: WorkerRequest.Work, on bytes: SharedBytes, room: Int, by roster: WorkerRoster, memory: Int? = nil,
        processorTime: Duration? = nil, token: WorkToken, read: (WorkerResponse, inout OutputMemory) throws -> Result
    ) throws -> Result {
        try rejectQuarantined(bytes, work)
        do {
            for isLast in [false, true] {
                let worker = try roster.take(token)
                let outcome: WorkerProcess.Outcome<Result>
                do {
                    outcome = try worker.perform(
                        work, on: bytes, room: room, memory: memory, processorTime: processorTime, token: token,
                        read: read)
                } catch {
                    // The worker got no request or has answered it, so it is still usable.
                    roster.release(worker)
                    throw error
                }
                if let result = try result(of: outcome, by: worker, of: roster, on: bytes, work, isLast: isLast, token)
                {
                    return result
                }
            }
        } catch let error as SharedMemoryError {
            throw WorkerUnavailable(detail: "\(error.step): error \(error.number)")
        }
        throw CancellationError()
    }

    /// Handles the outcome and returns or ends the worker; returns nil if another worker may try.
    private func result<Result>(
        of outcome: WorkerProcess.Outcome<Result>, by worker: WorkerProcess, of roster: WorkerRoster,
        on bytes: SharedBytes, _ work: WorkerRequest.Work, isLast: Bool, _ token: WorkToken
    ) throws -> Result? {
        switch outcome {
        case .done(let result):
            roster.release(worker)
            return result
        case .failed(let text):
            roster.release(worker)
            throw Fault(detail: text)
        case .unreliable(let text):
            roster.dismiss(worker, .recycled)
            throw Fault(detail: text)
        case .short:
            // A new process may succeed, because this one's allocator may keep freed memory.
            roster.dismiss(worker, .recycled)
            if isLast { throw SharedMemoryError("a worker's memory", ENOMEM) }
            metrics.retries.increment()
        case .interrupted(let wasBusy):
            roster.dismiss(worker, token.isCancelled ? .cancelled : .deadline)
            // If the worker got little CPU time, the machine may be overloaded and the image harmless.
            if wasBusy, !token.isCancelled {
                let digest = reportQuarantine(bytes, "a worker was busy past the deadline")
                timedOutJobs.withLock { $0.insert(QuarantineKey(digest: digest, work: work), at: timekeeper.now) }
            }
            try token.check()
        case .exhausted:
            roster.dismiss(worker, .exhausted)
            throw Exhausted()
        case .breach(let text):
            roster.expel(worker, for: .breach, reason: text)
            throw quarantined(bytes, work: work, detail: "a worker sent a false answer: \(text)")
        case .forbidden(let call):
            roster.expel(worker, for: .violation, reason: "it tried the system call \(call)")
            throw quarantined(bytes, work: work, detail: "a worker tried the system call \(call)")
        case .lost:
            let end = roster.reap(worker)
            if end.cause == .shortage, isLast { throw SharedMemoryError("a worker's memory", ENOMEM) }
            if [.violation, .limit].contains(end.cause) || isLast {
                throw quarantined(bytes, work: work, detail: "a worker \(end)")
            }
            metrics.retries.increment()
        }
        return nil
    }

    var idleProcesses: [CInt] { decoders.idleProcesses }

    var encoders: WorkerRoster? {
        encoderState.withLock { if case .started(let roster) = $0 { roster } else { nil } }
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
                    configuration, workerCount: configuration.encoderCount, life: configuration.encoderLifetime,
                    atLeast: protections, metrics: metrics, logger: logger)
                state = .started(roster)
                return roster
            } catch {
                throw WorkerUnavailable(detail: "\(error.step): error \(error.number)")
            }
        }
    }

    private func rejectQuarantined(_ bytes: SharedBytes, _ work: WorkerRequest.Work) throws {
        let now = timekeeper.now
        let isAnyContentDamaged = !damagedContents.withLock { $0.isEmpty(at: now) }
        let hasTimedOutJobs = !timedOutJobs.withLock { $0.isEmpty(at: now) }
        guard isAnyContentDamaged || hasTimedOutJobs else { return }
        let job = QuarantineKey(digest: bytes.withBytes { SHA256.hash($0) }, work: work)
        if damagedContents.withLock({ $0.contains(QuarantinedInput(job), at: now) }) {
            throw Fault(detail: "the file recently crashed a worker process")
        }
        if timedOutJobs.withLock({ $0.contains(job, at: now) }) {
            throw DeadlineExceeded()
        }
    }

    private func rejectUnderestimated(_ bytes: SharedBytes) throws(UnderestimatedDecode) {
        let now = timekeeper.now
        guard !underestimatedContents.withLock({ $0.isEmpty(at: now) }) else { return }
        let digest = bytes.withBytes { SHA256.hash($0) }
        if underestimatedContents.withLock({ $0.contains(digest, at: now) }) { throw UnderestimatedDecode() }
    }

    private func quarantined(_ bytes: SharedBytes, work: WorkerRequest.Work, detail: String) -> Fault {
        let job = QuarantineKey(digest: reportQuarantine(bytes, detail), work: work)
        damagedContents.withLock { $0.insert(QuarantinedInput(job), at: timekeeper.now) }
        return Fault(detail: detail)
    }

    private func reportQuarantine(_ bytes: SharedBytes, _ detail: String) -> SHA256Digest {
        let digest = bytes.withBytes { SHA256.hash($0) }
        metrics.quarantined.increment()
        logger.warning("file quarantined", ["sha256": .string(digest.hexadecimal), "reason": .string(detail)])
        return digest
    }
}

/// Thrown if the machine is short of memory or descriptors; the image is not at fault.
package struct WorkerUnavailable: Error {
    package let detail: String
}

package struct SandboxConfiguration: Sendable {
    package var launch: WorkerLaunch
    /// The number of decoders: one per concurrently decoded image, and a spare.
    package var decoderCount: Int
    /// The number of encoders: one per concurrently encoded image, started when first needed.
    package var encoderCount: Int
    package var decoderLifetime = WorkerLifetime.decoder
    package var encoderLifetime = WorkerLifetime.encoder
    /// The CPU time that any decode may take, in addition to a multiple of its estimated cost.
    package var minimumDecodeTime = Duration.seconds(1)
    package var decodeTimeMultiple = 8.0
    /// The CPU time that a decode in the lane for small work may take beyond twice its cost.
    #if DEBUG
    // Costs are measured with optimized code.
    package var minimumSmallDecodeTime = Duration.seconds(1)
    #else
    package var minimumSmallDecodeTime = Duration.milliseconds(50)
    #endif
    package var quarantine = Duration.seconds(600)

    package init(launch: WorkerLaunch, parallelism: Int) {
        self.launch = launch
        decoderCount = parallelism + 1
        encoderCount = parallelism
    }

    /// Returns the limit for a decode in the lane for small work, which a few long decodes would fill.
    func processorTime(forSmallCostOf cost: Duration) -> Duration { minimumSmallDecodeTime + cost * 2 }

    /// Returns the limit for a decode; it is generous, because costs were measured on another machine.
    ///
    /// - Parameter runs: The part of the cost that is known exactly, such as repeated starts of a decoder; twice this
    ///   part is enough.
    func processorTime(forCostOf cost: Duration, runs: Duration = .zero) -> Duration {
        minimumDecodeTime + (cost - runs) * decodeTimeMultiple + runs * min(2, decodeTimeMultiple)
    }
}

/// Inputs that recently crashed or blocked a worker, and are rejected whatever their URL.
struct Quarantine<Key: Hashable> {
    let duration: Duration
    private var entries: BoundedMap<Key, Bool>

    init(duration: Duration = .seconds(600), capacity: Int = 4_096) {
        self.duration = duration
        entries = BoundedMap(maximumCount: capacity)
    }

    /// Whether there are no inputs, so that contents need not be hashed.
    mutating func isEmpty(at now: Duration) -> Bool {
        entries.removeExpired(at: now)
        return entries.count == 0
    }

    var count: Int { entries.count }

    func contains(_ key: Key, at now: Duration) -> Bool { entries.peek(key, at: now) != nil }

    mutating func insert(_ key: Key, at now: Duration) { entries.insert(true, for: key, until: now + duration) }
}

struct QuarantineKey: Hashable {
    let digest: SHA256Digest
    let work: WorkerRequest.Work
}

/// An input that crashed workers.
enum QuarantinedInput: Hashable {
    case file(SHA256Digest)
    /// One kind of work on pixels, which may be harmless in another format or shape.
    case pixels(QuarantineKey)

    init(_ job: QuarantineKey) {
        self = if case .decode = job.work { .file(job.digest) } else { .pixels(job) }
    }
}
