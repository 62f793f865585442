import Composition
import Coordination
import Downloading
import Glibc
import Memory
import Program
import Recipes
import Settings
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Renders all renditions of sources, opening each source once.
struct ResultRenderer: Sendable {
    let session: CommandSession
    let sources: [FoundSource]
    let arguments: RenderingArguments
    let replaces: Bool
    let record: BatchRecord?
    /// Whether bytes must be on disk before the file gets its name.
    let isDurable: Bool
    private let names: SharedResultNames
    /// The names of results that an earlier run has finished.
    private let finished: [Int: String]

    /// The number of renditions of a source that are rendered in parallel.
    private static let maximumAtOnce = 4

    /// Prepares the names of all results.
    ///
    /// - Parameters:
    ///   - record: Records results, and knows the results of earlier runs; nil to record nothing.
    ///   - keepsFinished: Whether results of an earlier run are kept.
    ///   - isFlat: Whether to ignore the folders of sources.
    init(
        session: CommandSession, sources: [FoundSource], arguments: RenderingArguments, replaces: Bool,
        record: BatchRecord? = nil, keepsFinished: Bool = false, isFlat: Bool = false, isDurable: Bool = false
    ) {
        self.session = session
        self.sources = sources
        self.arguments = arguments
        self.replaces = replaces
        self.record = record
        self.isDurable = isDurable
        var patterns = [ResultPattern]()
        var finished = [Int: String]()
        for found in sources {
            let values: ResultPattern.Values = [.name: found.source.stem, .dir: isFlat ? "" : found.folder]
            for rendition in arguments.renditions {
                if keepsFinished, let record {
                    finished[patterns.count] = record.takeFinished(record.key(found.source, rendition: rendition))
                }
                var values = values.merging(rendition.sides) { $1 }
                values[.rendition] = rendition.name
                patterns.append(arguments.pattern.filled(values))
            }
        }
        self.finished = finished
        names = SharedResultNames(patterns, named: finished)
    }

    /// Renders a source.
    ///
    /// - Parameter renditions: The indexes of the renditions; nil for all.
    func outcomes(of source: Int, renditions: [Int]? = nil) async -> [RenditionOutcome] {
        let start = SystemTimekeeper().now
        func outcome(_ rendition: Int, _ kind: RenditionOutcome.Kind) -> RenditionOutcome {
            // Later results with the same pattern wait until this one has a name or none.
            names.skip(index(source, rendition: rendition))
            return RenditionOutcome(
                source: source, rendition: rendition, sourceText: sources[source].source.text,
                renditionName: arguments.renditions.count > 1 ? arguments.renditions[rendition].name : nil, kind: kind,
                duration: SystemTimekeeper().now - start)
        }
        let requested = renditions ?? Array(arguments.renditions.indices)
        var outcomes = requested.compactMap { rendition in
            finished[index(source, rendition: rendition)].map { name in
                outcome(rendition, .skipped(path: path(of: name), isFinished: true))
            }
        }
        let open = requested.filter { finished[index(source, rendition: $0)] == nil }
        guard !open.isEmpty else { return outcomes }
        let opened: OpenedSource
        do {
            try Task.checkCancellation()
            opened = try await session.open(sources[source].source, receipt: "source-\(source)")
        } catch {
            return outcomes
                + open.enumerated().map { number, rendition in
                    var failed = outcome(rendition, .failed(CommandFailure(error)))
                    failed.isRepeated = number > 0
                    return failed
                }
        }
        defer { session.close(opened) }
        await session.engine.pipeline.decodeTogether(open.map { arguments.renditions[$0].request }, of: opened)
        await withTaskGroup(of: RenditionOutcome.self) { group in
            var waiting = open.makeIterator()
            func startNext() {
                guard let rendition = waiting.next() else { return }
                group.addTask { outcome(rendition, await kind(of: opened, source: source, rendition: rendition)) }
            }
            for _ in 0..<Self.maximumAtOnce { startNext() }
            while let outcome = await group.next() {
                outcomes.append(outcome)
                startNext()
            }
        }
        return outcomes.sorted { $0.rendition < $1.rendition }
    }

    private func index(_ source: Int, rendition: Int) -> Int { source * arguments.renditions.count + rendition }

    /// Renders one result.
    ///
    /// An existing file is not a failure if there are several results, because it usually comes from an earlier run.
    private func kind(of opened: OpenedSource, source: Int, rendition: Int) async -> RenditionOutcome.Kind {
        do {
            try Task.checkCancellation()
            return try await result(of: opened, source: source, rendition: rendition)
        } catch {
            let failure = CommandFailure(error)
            guard arguments.output.hasSeveralResults, failure.code == ResultFile.existing.code,
                let path = failure.subject
            else { return .failed(failure) }
            return .skipped(path: path, isFinished: false)
        }
    }

    private func result(of opened: OpenedSource, source: Int, rendition: Int) async throws -> RenditionOutcome.Kind {
        let request = arguments.renditions[rendition].request
        guard let name = try await name(of: opened, for: request, index: index(source, rendition: rendition)) else {
            return try await writeToStandardOutput(opened, for: request)
        }
        let path = path(of: name)
        if case .origin = arguments.output { return try await storeBelowOrigin(opened, for: request, at: path) }
        // Check before the work is done; the file is checked again when it gets its name.
        if !replaces, FilePath.kind(of: path) == S_IFREG { throw ResultFile.existing.about(path) }
        if name.utf8.contains(UInt8(ascii: "/")) { try FilePath.makeFolder(FilePath.folder(of: path)) }
        let image = try await thumbnail(of: opened, for: request).image
        let key = record.map { $0.key(sources[source].source, rendition: arguments.renditions[rendition]) }
        try await session.files.run { [replaces, record, isDurable] _ in
            do throws(CommandFailure) {
                try ResultFile.blockingWrite(
                    image.bytes, to: path, replaces: replaces, isDurable: isDurable, writesThrough: record == nil
                ) { (stamp) throws(CommandFailure) in
                    if let record, let key { try record.blockingAdd(key, name: name, stamp: stamp) }
                }
            } catch {
                throw error.about(path)
            }
        }
        return .rendered(path: path, image)
    }

    private func writeToStandardOutput(
        _ opened: OpenedSource, for request: Request
    ) async throws -> RenditionOutcome.Kind {
        let image = try await thumbnail(of: opened, for: request).image
        try await session.files.run { _ in
            do throws(CommandFailure) {
                try ResultFile.blockingWrite(image.bytes, to: STDOUT_FILENO)
            } catch {
                throw error.about("standard output")
            }
        }
        return .rendered(path: "-", image)
    }

    private func thumbnail(of opened: OpenedSource, for request: Request) async throws -> Thumbnail {
        let rendered = try await session.thumbnail(of: opened, for: request)
        try Task.checkCancellation()
        return rendered
    }

    /// Renders a result and stores it below a named origin.
    private func storeBelowOrigin(
        _ opened: OpenedSource, for request: Request, at path: String
    ) async throws -> RenditionOutcome.Kind {
        let resultWriter = session.engine.resultWriter
        let destination: Destination
        do throws(Destination.Rejection) {
            destination = try resultWriter.destination(ExactText(path))
        } catch {
            throw CommandFailure(code: "bad_destination", reason: "\(path): invalid destination")
        }
        if !replaces, try await resultWriter.holds(destination) { throw ResultFile.existing.about(path) }
        let rendered = try await thumbnail(of: opened, for: request)
        let stored = try await resultWriter.put(rendered, at: destination, of: opened)
        return .rendered(path: stored.location, rendered.image)
    }

    /// Returns the name of a result below the folder or origin, or the path of the only file; nil for standard output.
    ///
    /// - Throws: An ``ImagingError`` for a result that cannot be encoded.
    private func name(of opened: OpenedSource, for request: Request, index: Int) async throws -> String? {
        switch arguments.output {
        case .standardOutput: return nil
        case .file(let path): return path
        case .folder, .origin:
            let plan = try RenderPlan(for: request, of: PerSource(opened.header), by: session.engine.settings.pipeline)
            return await names.name(
                of: index,
                values: [
                    .format: plan.format.fileExtension, .w: String(plan.outputSize.width),
                    .h: String(plan.outputSize.height),
                ])
        }
    }

    private func path(of name: String) -> String {
        switch arguments.output {
        case .standardOutput, .file: name
        case .folder(let folder): FilePath.joined(folder, with: name)
        case .origin(let start): start + name
        }
    }
}
