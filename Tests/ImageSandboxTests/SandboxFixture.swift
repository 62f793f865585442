import Coordination
import Glibc
import Imaging
import Memory
import Recipes
import Telemetry
import TestSupport

@testable import ImageSandbox

/// Real workers, and a manual clock for the quarantine.
final class SandboxFixture: Sendable {
    let time = ManualTimekeeper()
    let registry = MetricsRegistry()
    let codec: SandboxedCodec

    /// By default two decoders, each for one image at a time.
    init(_ configure: (inout SandboxConfiguration) -> Void = { _ in }) throws {
        let limits = WorkerLimits(memory: 4 << 30, pixels: 2 << 30, processorSeconds: 600)
        var configuration = SandboxConfiguration(
            launch: WorkerLaunch(executable: BuiltExecutable.alula, limits: limits), parallelism: 1)
        configuration.launch.timeLimit = .seconds(60)
        configure(&configuration)
        codec = try SandboxedCodec(configuration, registry: registry, logger: .silent, timekeeper: time)
    }

    deinit {
        codec.shutDown()
    }

    func decode(
        _ file: SharedBytes, plan: DecodePlan = DecodePlan(), token: WorkToken = WorkToken()
    ) throws -> DecodedImage {
        try codec.decode(file, plan: plan, token: token)
    }

    /// An image that keeps a codec busy for a while.
    static let slow: SharedBytes = {
        let pixels = [UInt8](repeating: 90, count: slowSize.area * 3)
        do {
            try ImageLibrary.start()
            return try ImageEncoder.encode(pixels: pixels, size: slowSize, bands: 3, format: .png, quality: nil).bytes
        } catch {
            fatalError("the slow image cannot be encoded: \(error)")
        }
    }()
    static let slowSize = PixelSize(width: 8_192, height: 8_192)

    /// Decodes the slow image on a separate thread.
    func decodeSlowly(timeLimit: Duration? = nil, isSmall: Bool = false) async throws -> DecodedImage {
        let codec = codec
        let file = Self.slow
        var limits = ImagingLimits.none
        limits.endsUnderestimatedDecodes = isSmall
        return try await Self.onThread(timeLimit: timeLimit) { [limits] token in
            try codec.decode(file, header: .inspect(file), plan: DecodePlan(), limits: limits, token: token)
        }
    }

    /// Noise, which keeps the AVIF encoder busy for a while.
    static let noise: DecodedImage = {
        var state: UInt32 = 1
        let samples = (0..<noiseSize.area * 3).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        return DecodedImage(pixels: SharedBytes(samples), size: noiseSize, bands: 3)
    }()
    static let noiseSize = PixelSize(width: 1_600, height: 1_200)

    /// Encodes the noise on a separate thread.
    func encodeSlowly(as format: ImageFormat = .avif, timeLimit: Duration? = nil) async throws -> SharedBytes {
        let codec = codec
        let noise = Self.noise
        return try await Self.onThread(timeLimit: timeLimit) { token in
            try codec.encode(noise, as: format, settings: EncoderSettings(quality: 90, effort: 1), token: token)
        }
    }

    static func onThread<Result: Sendable>(
        timeLimit: Duration?, _ body: @escaping @Sendable (WorkToken) throws -> Result
    ) async throws -> Result {
        let pool = WorkerPool(count: 1, maximumQueued: 1, name: "test")
        defer { pool.shutDown() }
        return try await pool.run(timeLimit: timeLimit, body)
    }

    /// Starts to decode the slow image.
    func startSlowly() -> Task<DecodedImage, any Error> {
        Task { try await self.decodeSlowly() }
    }

    /// Starts the encoder if needed, waits until it is idle, and returns its process.
    func idleEncoder() async throws -> pid_t {
        let pixel = DecodedImage(pixels: SharedBytes([7]), size: PixelSize(width: 1, height: 1), bands: 1)
        if codec.encoders == nil {
            _ = try codec.encode(pixel)
        }
        let isIdle = { @Sendable [codec] in codec.encoders?.idleProcesses.count == 1 }
        _ = await eventually(within: .seconds(60), isIdle)
        return codec.encoders?.idleProcesses.first ?? 0
    }

    /// Waits until an encoder other than `process` is working, and returns its process.
    func busyEncoder(besides process: pid_t = 0) async -> pid_t {
        let found = { @Sendable [codec] in
            let encoders = codec.encoders
            let idle = encoders?.idleProcesses ?? []
            return encoders?.processes.first { $0 != process && !idle.contains($0) }
        }
        _ = await eventually(within: .seconds(60)) { found() != nil }
        return found() ?? 0
    }

    /// Waits until one of these idle workers is working, and returns its process.
    func busy(of processes: [pid_t]) async -> pid_t {
        let isBusy = { @Sendable [codec] in processes.first { !codec.idleProcesses.contains($0) } }
        _ = await eventually(within: .seconds(60)) { isBusy() != nil }
        return isBusy() ?? 0
    }

    /// Waits until `count` workers are idle, and returns their processes; the last one is used next.
    func idle(_ count: Int) async -> [pid_t] {
        _ = await eventually(within: .seconds(60)) { [codec] in codec.idleProcesses.count == count }
        return codec.idleProcesses
    }

    /// The value of a metric; `name` may include labels.
    func metric(_ name: String) -> Int? {
        let line = registry.prometheusText.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line?.split(separator: " ").last.flatMap { Int($0) }
    }

    func ends(_ cause: SandboxMetrics.Cause) -> Int {
        metric("alula_decode_worker_ends_total{cause=\"\(cause.rawValue)\"}") ?? 0
    }

    /// The number of workers that have ended, for any cause.
    var endCount: Int { SandboxMetrics.Cause.allCases.map(ends).reduce(0, +) }
}

extension ImageCodec {
    func decode(
        _ file: SharedBytes, plan: DecodePlan = DecodePlan(), token: WorkToken = WorkToken()
    ) throws -> DecodedImage {
        try decode(file, header: .inspect(file), plan: plan, limits: .none, token: token)
    }

    /// Writes an image as AVIF, as fast as the encoder can.
    func encode(
        _ image: DecodedImage, quality: Int = 50, bitDepth: Int = 8, token: WorkToken = WorkToken()
    ) throws -> SharedBytes {
        let settings = EncoderSettings(quality: quality, effort: 1, bitDepth: bitDepth)
        return try encode(image, as: .avif, settings: settings, token: token)
    }
}

extension WorkerLaunch {
    /// Workers of the built executable, with timeouts for a debug build on a busy machine.
    static let ofTests: WorkerLaunch = {
        let limits = WorkerLimits(memory: 1 << 30, pixels: 1 << 30, processorSeconds: 60)
        var launch = WorkerLaunch(executable: BuiltExecutable.alula, limits: limits)
        launch.timeLimit = .seconds(60)
        return launch
    }()
}

/// The first 64 KiB of a kernel file; nil if it is missing.
func contents(_ path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return count >= 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
}
