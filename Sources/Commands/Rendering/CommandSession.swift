import Composition
import Coordination
import Dialects
import Downloading
import HTTPTypes
import Memory
import Recipes
import Settings
import Telemetry
import Text
import ThumbnailAPI
import ThumbnailPipeline
import ThumbnailTypes

struct CommandSession: Sendable {
    let engine: Engine
    let files: WorkerPool
    /// Fields for origins that forward them.
    private let fields: HTTPFields
    private let sink: DescriptorSink?

    /// - Parameters:
    ///   - settings: The settings, of which only those for fetching and rendering apply.
    ///   - jobs: The number of images processed in parallel; nil uses the settings' number.
    ///   - fields: Fields for named origins that forward them.
    ///   - isVerbose: Whether to show the full log, whatever the level in the settings.
    init(_ settings: Settings, jobs: Int? = nil, fields: HTTPFields = [:], isVerbose: Bool = false) throws {
        var settings = Self.adapted(settings, jobs: jobs)
        try? DescriptorLimit.raise(toServe: &settings)
        let level = settings.chosenLogLevel ?? (isVerbose ? .info : nil)
        let sink = level.map { _ in DescriptorSink(format: isVerbose ? .text : settings.logFormat) }
        let logger = level.flatMap { level in sink.map { Logger(level: level, sink: $0) } } ?? .silent
        self.sink = sink
        self.fields = fields
        engine = try Engine(settings, logger: logger)
        files = WorkerPool(count: settings.renderWorkers + 2, maximumQueued: 65_536, name: "files")
        if isVerbose { Sandbox.report(engine.sandbox, to: logger) }
    }

    static func adapted(_ settings: Settings, jobs: Int?) -> Settings {
        var settings = settings
        // The folder of the disk cache belongs to the service.
        settings.disk.mode = .ephemeral
        settings.api.vocabulary.allowsOnlyPresets = false
        // A request to the running service is not a loop.
        settings.loopName = nil
        settings.pipeline.requestTimeout = .seconds(3_600)
        settings.pipeline.maximumQueueDelay = .seconds(3_600)
        if let jobs { settings.renderWorkers = jobs }
        return settings
    }

    /// The number of sources in progress: some are processed while others are read, fetched and written.
    var sourcesAtOnce: Int { max(1, min(engine.settings.renderWorkers * 4, engine.budget.limit / (32 << 20))) }

    /// Opens a source until ``close(_:)`` is called.
    func open(_ source: CommandSource, receipt: String) async throws -> OpenedSource {
        switch source {
        case .remote(let url):
            let request = Request(source: ExactText(url))
            let resolved = try engine.pipeline.resolved(request).forwarding(fields)
            return try await engine.pipeline.open(for: Job(resolved, receipt: receipt))
        case .file, .standardInput:
            let bytes = try await bytes(of: source)
            return try engine.pipeline.open(file: bytes)
        }
    }

    func thumbnail(of source: OpenedSource, for request: Request) async throws -> Thumbnail {
        let resolved = try engine.pipeline.resolved(request, of: source).forwarding(fields)
        return try await engine.pipeline.thumbnail(for: Job(resolved, receipt: "thumbnail"))
    }

    func close(_ source: OpenedSource) { engine.pipeline.close(source) }

    func end() async {
        await engine.stopWork()
        await engine.end()
        sink?.flush()
    }

    private func bytes(of source: CommandSource) async throws -> SharedBytes {
        let maximum = engine.settings.downloads.maximumBytes
        let path = source.text
        let size = source == .standardInput ? 0 : try await files.run { _ in try InputFile.blockingSize(of: path) }
        guard size <= maximum else { throw Self.tooLarge(maximum) }
        let reservation: MemoryReservation
        do {
            reservation = try await engine.budget.reserve(size, for: .arrival)
        } catch is MemoryBudget.NeverFits {
            throw CommandFailure(code: "source_too_large", reason: "too large for memoryBudget")
        }
        let bytes: SharedBytes
        do {
            bytes = try await files.run { token in
                defer { reservation.release() }
                return try InputFile.blockingRead(path, expecting: size, atMost: maximum, token: token)
            }
        } catch is InputFile.TooLong {
            throw Self.tooLarge(maximum)
        }
        guard bytes.count > 0 else { throw CommandFailure(code: "not_an_image", reason: "empty") }
        return bytes
    }

    private static func tooLarge(_ maximum: Int) -> CommandFailure {
        CommandFailure(code: "source_too_large", reason: "larger than \(maximum) bytes, the setting maxSourceBytes")
    }
}
