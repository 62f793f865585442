import Composition
import Coordination
import Dialects
import Downloading
import Imaging
import Memory
import Settings
import Telemetry
import Text
import ThumbnailAPI
import ThumbnailPipeline
import ThumbnailTypes

/// The engine of a command, and the threads that read and write its files.
struct CommandSession: Sendable {
    let engine: Engine
    /// Read sources and write results.
    let files: WorkerPool
    private let sink: DescriptorSink?

    /// Starts the engine.
    ///
    /// - Parameters:
    ///   - settings: The settings of the service, of which those count that concern fetching and making.
    ///   - jobs: Images that are worked on at the same time; nil for the number in the settings.
    ///   - isVerbose: Whether the engine's log is shown, and not only what the settings ask for.
    init(_ settings: Settings, jobs: Int? = nil, isVerbose: Bool = false) throws {
        var settings = Self.adapted(settings, jobs: jobs)
        try? DescriptorLimit.raise(toServe: &settings)
        let level = settings.chosenLogLevel ?? (isVerbose ? .info : nil)
        let sink = level.map { _ in DescriptorSink(format: isVerbose ? .text : settings.logFormat) }
        let logger = level.flatMap { level in sink.map { Logger(level: level, sink: $0) } } ?? .silent
        self.sink = sink
        engine = try Engine(settings, logger: logger)
        files = WorkerPool(count: settings.renderWorkers + 2, maximumQueued: 65_536, name: "files")
        if isVerbose { Sandbox.report(engine.sandbox, to: logger) }
    }

    /// The settings of the service as they count for a command, which waits for its own work and serves nobody else.
    static func adapted(_ settings: Settings, jobs: Int?) -> Settings {
        var settings = settings
        // The folder of the disk cache belongs to the service.
        settings.disk.mode = .ephemeral
        settings.api.vocabulary.allowsOnlyPresets = false
        // A command that asks the running service is no loop.
        settings.loopName = nil
        settings.pipeline.requestTimeout = .seconds(3_600)
        settings.pipeline.maximumQueueDelay = .seconds(3_600)
        if let jobs { settings.renderWorkers = jobs }
        return settings
    }

    /// Sources in hand at the same time: some are worked on, and others are read, fetched and written meanwhile.
    ///
    /// A small memory budget has room for fewer.
    var sourcesAtOnce: Int { max(1, min(engine.settings.renderWorkers * 4, engine.budget.limit / (32 << 20))) }

    /// The image of a source, in hand; ``close(_:)`` ends its use.
    ///
    /// - Throws: ``CommandFailure``, a `ServiceError` or `CancellationError`.
    func opened(_ source: CommandSource, receipt: String) async throws -> OpenedSource {
        switch source {
        case .remote(let url):
            let request = ThumbnailRequest(source: ExactText(url))
            return try await engine.pipeline.opened(for: Call(engine.pipeline.resolved(request), receipt: receipt))
        case .file, .standardInput:
            let bytes = try await bytes(of: source)
            return try engine.pipeline.opened(file: bytes)
        }
    }

    /// Ends the use of an image in hand.
    func close(_ source: OpenedSource) { engine.pipeline.close(source) }

    /// Ends the worker processes and writes what is left of the log.
    func end() async {
        await engine.stopWork()
        await engine.end()
        sink?.flush()
    }

    /// The bytes of a file, for which memory is reserved before they are read.
    private func bytes(of source: CommandSource) async throws -> SharedBytes {
        let most = engine.settings.downloads.maximumBytes
        let path = source.text
        let size = source == .standardInput ? 0 : try await files.run { _ in try InputFile.blockingSize(of: path) }
        guard size <= most else { throw Self.tooLarge(most) }
        let room: MemoryReservation
        do {
            room = try await engine.budget.reserve(size, for: .arrival)
        } catch is MemoryBudget.NeverFits {
            throw CommandFailure(code: "source_too_large", "larger than memoryBudget allows")
        }
        let bytes: SharedBytes
        do {
            bytes = try await files.run { token in
                defer { room.release() }
                return try InputFile.blockingRead(path, expecting: size, atMost: most, token: token)
            }
        } catch is InputFile.TooLong {
            throw Self.tooLarge(most)
        }
        guard bytes.count > 0 else { throw CommandFailure(code: "not_an_image", "empty") }
        return bytes
    }

    private static func tooLarge(_ most: Int) -> CommandFailure {
        CommandFailure(code: "source_too_large", "larger than \(most) bytes, the setting maxSourceBytes")
    }
}
