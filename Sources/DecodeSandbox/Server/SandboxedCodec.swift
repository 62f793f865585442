package import Coordination
import Crypto
package import Imaging
package import Memory
package import Telemetry

/// Decodes, and encodes what cannot be stopped otherwise, in processes that can do nothing else, so that a picture which takes one
/// of them over has won nothing.
///
/// A worker that ends takes nobody's picture with it: another one is given the picture. A picture that ends two, or one by what
/// is forbidden, is damaged, and its content is not looked at for a while. One that keeps a processor busy past its deadline is not worked
/// on in that way for as long: it would take as much again.
package final class SandboxedCodec: ImageCodec {
    /// What protects the service from the workers.
    package let protections: Protections
    private let decoders: WorkerRoster
    /// Other processes than those that see files: what these write goes to clients as it is.
    private let encoderState = Locked(Encoders.notNeeded)
    private let configuration: SandboxConfiguration
    private let metrics: SandboxMetrics
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let damaged: Locked<Quarantine<Offender>>
    private let endless: Locked<Quarantine<Task>>

    /// Started when the first picture is to be encoded.
    private enum Encoders {
        case notNeeded, stopped
        case started(WorkerRoster)
    }

    /// A content, and what was wanted of it.
    private struct Task: Hashable {
        let digest: SHA256Digest
        let work: WorkerRequest.Work
    }

    /// What ended workers.
    private enum Offender: Hashable {
        /// A file, whatever was wanted of it.
        case file(SHA256Digest)
        /// Finished pixels: as a file of another kind, or of another shape, they are another matter.
        case pixels(Task)

        init(_ task: Task) {
            self = if case .decode = task.work { .file(task.digest) } else { .pixels(task) }
        }
    }

    /// What is wrong with a picture, for logs.
    private struct Fault: Error {
        let detail: String
    }

    /// Starts the workers, and returns when the first is ready.
    ///
    /// - Throws: ``WorkerLaunch/Failure`` where none can be started.
    package init(
        _ configuration: SandboxConfiguration, registry: MetricsRegistry, logger: Logger, timekeeper: any Timekeeper
    ) throws(WorkerLaunch.Failure) {
        metrics = SandboxMetrics(registry: registry)
        self.logger = logger
        self.timekeeper = timekeeper
        self.configuration = configuration
        damaged = Locked(Quarantine(duration: configuration.quarantine))
        endless = Locked(Quarantine(duration: configuration.quarantine))
        do {
            decoders = try WorkerRoster(
                configuration, workerCount: configuration.decoderCount, life: configuration.decoderLife,
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
        registry.gauge("alula_decode_workers", help: "Workers that are ready, decode or encode.") { [weak self] in
            [([], Double(self?.processCount ?? 0))]
        }
    }

    /// Decodes in a worker; in a second one where the first ends.
    ///
    /// - Throws: Also ``WorkerUnavailable``.
    package func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try token.check()
        try ImageDecoder.check(header, plan: plan, limits: limits)
        do {
            // Address space is more than what is used of it.
            let memory = 2 * min(header.price(of: plan, fileByteCount: bytes.count), 1 << 46)
            // Its lane and its wait are those of what its head says: who needs far more has lied.
            let processorTime = configuration.processorTime(
                forPriceOf: header.timePrice(of: plan, fileByteCount: bytes.count))
            return try perform(
                .decode(plan), on: bytes, room: header.mostPixelBytes(of: plan), by: decoders, memory: memory,
                processorTime: processorTime, token: token
            ) { answer, output in
                guard case .decoded(let picture) = answer else { throw Fault(detail: "no such answer") }
                return try picture.image(in: &output, of: header, by: plan)
            }
        } catch let fault as Fault {
            throw ImagingError.cannotDecode(detail: fault.detail)
        }
    }

    /// Encodes in a worker; in a second one where the first ends.
    ///
    /// - Throws: Also ``WorkerUnavailable``.
    package func encode(
        _ picture: DecodedImage, as format: ImageFormat, quality: Int, token: WorkToken
    ) throws -> SharedBytes {
        try token.check()
        let work = WorkerRequest.Work.encode(DecodedDescription(picture), as: format, quality: quality)
        do {
            let room = WorkerAnswer.mostFileBytes(of: picture.size)
            return try perform(work, on: picture.pixels, room: room, by: startedEncoders(), token: token) {
                answer, output in
                guard case .encoded(let byteCount) = answer else { throw Fault(detail: "no such answer") }
                return try WorkerAnswer.file(byteCount: byteCount, in: &output, format: format, size: picture.size)
            }
        } catch let fault as Fault {
            throw ImagingError.encodeFailed(detail: fault.detail)
        }
    }

    /// Has a worker do it; a second one where the first ends.
    ///
    /// - Throws: ``Fault`` for what is the picture's, ``WorkerUnavailable``, or what `token` says.
    private func perform<Result>(
        _ work: WorkerRequest.Work, on bytes: SharedBytes, room: Int, by roster: WorkerRoster, memory: Int? = nil,
        processorTime: Duration? = nil, token: WorkToken,
        read: (WorkerAnswer, inout OutputMemory) throws -> Result
    ) throws -> Result {
        try refuseQuarantined(bytes, work)
        do {
            for isLast in [false, true] {
                let worker = try roster.take(token)
                let outcome: WorkerProcess.Outcome<Result>
                do {
                    outcome = try worker.perform(
                        work, on: bytes, room: room, memory: memory, processorTime: processorTime, token: token,
                        read: read)
                } catch {
                    // Nothing was asked of it, or it has answered.
                    roster.giveBack(worker)
                    throw error
                }
                switch outcome {
                case .done(let result):
                    roster.giveBack(worker)
                    return result
                case .failed(let text):
                    roster.giveBack(worker)
                    throw Fault(detail: text)
                case .interrupted(let wasBusy):
                    roster.dismiss(worker, token.isCancelled ? .cancelled : .deadline)
                    // Where the machine had no time for it, the picture may be innocent.
                    if wasBusy, !token.isCancelled {
                        let digest = note(bytes, "a worker was at it for most of its time and past its deadline")
                        endless.withLock { $0.insert(Task(digest: digest, work: work), at: timekeeper.now) }
                    }
                    try token.check()
                case .exhausted:
                    roster.dismiss(worker, .exhausted)
                    throw condemned(bytes, work, "a worker needed far longer than the head lets expect")
                case .breach(let text):
                    roster.expel(worker, .breach, text)
                    throw condemned(bytes, work, "a worker lied: \(text)")
                case .forbidden(let call):
                    roster.expel(worker, .violation, "it tried the system call \(call)")
                    throw condemned(bytes, work, "a worker tried the system call \(call)")
                case .lost:
                    let end = roster.bury(worker)
                    if [.violation, .limit].contains(end.cause) || isLast {
                        throw condemned(bytes, work, "a worker \(end)")
                    }
                    metrics.retries.increment()
                }
            }
        } catch let error as SharedMemoryError {
            throw WorkerUnavailable(detail: "\(error.step): error \(error.number)")
        }
        throw CancellationError()
    }

    /// The processes that are ready to decode, the next to be used last.
    var idleProcesses: [CInt] { decoders.idleProcesses }

    /// The processes that encode, or are ready to; none before the first picture.
    var encoders: WorkerRoster? {
        encoderState.withLock { if case .started(let roster) = $0 { roster } else { nil } }
    }

    /// Ends the workers.
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
                    configuration, workerCount: configuration.encoderCount, life: configuration.encoderLife,
                    atLeast: protections, metrics: metrics, logger: logger)
                state = .started(roster)
                return roster
            } catch {
                throw WorkerUnavailable(detail: "\(error.step): error \(error.number)")
            }
        }
    }

    private func refuseQuarantined(_ bytes: SharedBytes, _ work: WorkerRequest.Work) throws {
        let now = timekeeper.now
        let isAnyDamaged = !damaged.withLock { $0.isEmpty(at: now) }
        let isAnyEndless = !endless.withLock { $0.isEmpty(at: now) }
        guard isAnyDamaged || isAnyEndless else { return }
        let task = Task(digest: bytes.withBytes { SHA256.hash($0) }, work: work)
        if damaged.withLock({ $0.contains(Offender(task), at: now) }) {
            throw Fault(detail: "the content ended workers a short while ago")
        }
        if endless.withLock({ $0.contains(task, at: now) }) {
            throw DeadlineExceeded()
        }
    }

    private func condemned(_ bytes: SharedBytes, _ work: WorkerRequest.Work, _ detail: String) -> Fault {
        let task = Task(digest: note(bytes, detail), work: work)
        damaged.withLock { $0.insert(Offender(task), at: timekeeper.now) }
        return Fault(detail: detail)
    }

    /// Counts and logs a content that goes into quarantine; its hash.
    private func note(_ bytes: SharedBytes, _ detail: String) -> SHA256Digest {
        let digest = bytes.withBytes { SHA256.hash($0) }
        metrics.quarantined.increment()
        logger.warning(
            "content in quarantine", ["sha256": .string(digest.hexadecimal), "reason": .string(detail)])
        return digest
    }
}

/// The machine has no room to hand a picture over; not the picture's fault.
package struct WorkerUnavailable: Error {
    /// For logs.
    package let detail: String
}
