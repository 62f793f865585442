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

enum ResultPlace: Sendable, Equatable {
    case standardOutput
    case file(String)
    case folder(String)
    /// A folder below a named origin: `NAME:PATH/`.
    case origin(String)

    var hasSeveralResults: Bool {
        switch self {
        case .standardOutput, .file: false
        case .folder, .origin: true
        }
    }
}

/// The outcome of one rendition of a source.
struct Outcome: Sendable {
    enum Kind: Sendable {
        case rendered(path: String, EncodedImage)
        /// An existing file was kept; `isFinished` if it is known to be the result of an earlier run.
        case skipped(path: String, isFinished: Bool)
        case failed(CommandFailure)
    }

    /// The indexes of the source and of the rendition.
    let source: Int
    let rendition: Int
    let sourceText: String
    /// The rendition's name or number; nil if there is only one.
    var renditionName: String?
    let kind: Kind
    let duration: Duration
    /// Whether it failed because of the source, like the renditions before.
    var isRepeated = false

    var failure: CommandFailure? { if case .failed(let failure) = kind { failure } else { nil } }

    /// The line for a result; nil for a failure.
    var line: String? {
        switch kind {
        case .rendered(let path, _): Program.line("\(sourceText) -> \(path)")
        case .skipped(let path, let isFinished):
            Program.line("\(sourceText) -> \(path) (\(isFinished ? "finished before" : "skipped: exists"))")
        case .failed: nil
        }
    }
}

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
                    finished[patterns.count] = record.takeFinished(record.work(found.source, rendition: rendition))
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
    func outcomes(of source: Int, renditions: [Int]? = nil) async -> [Outcome] {
        let start = SystemTimekeeper().now
        func outcome(_ rendition: Int, _ kind: Outcome.Kind) -> Outcome {
            // Later results with the same pattern wait until this one has a name or none.
            names.pass(index(source, rendition: rendition))
            return Outcome(
                source: source, rendition: rendition, sourceText: sources[source].source.text,
                renditionName: arguments.renditions.count > 1 ? arguments.renditions[rendition].name : nil, kind: kind,
                duration: SystemTimekeeper().now - start)
        }
        var outcomes: [Outcome] = []
        var open: [Int] = []
        for rendition in renditions ?? Array(arguments.renditions.indices) {
            if let name = finished[index(source, rendition: rendition)] {
                outcomes.append(outcome(rendition, .skipped(path: path(of: name), isFinished: true)))
            } else {
                open.append(rendition)
            }
        }
        guard !open.isEmpty else { return outcomes }
        let opened: OpenedSource
        do {
            try Task.checkCancellation()
            opened = try await session.open(sources[source].source, receipt: "source-\(source)")
        } catch {
            for (number, rendition) in open.enumerated() {
                outcomes.append(outcome(rendition, .failed(CommandFailure(error))))
                outcomes[outcomes.count - 1].isRepeated = number > 0
            }
            return outcomes
        }
        defer { session.close(opened) }
        await session.engine.pipeline.decodeTogether(open.map { arguments.renditions[$0].request }, of: opened)
        await withTaskGroup(of: Outcome.self) { group in
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
    private func kind(of opened: OpenedSource, source: Int, rendition: Int) async -> Outcome.Kind {
        do {
            try Task.checkCancellation()
            return try await result(of: opened, source: source, rendition: rendition)
        } catch {
            let failure = CommandFailure(error)
            guard arguments.place.hasSeveralResults, failure.code == ResultFile.existing.code,
                let path = failure.subject
            else { return .failed(failure) }
            return .skipped(path: path, isFinished: false)
        }
    }

    private func result(of opened: OpenedSource, source: Int, rendition: Int) async throws -> Outcome.Kind {
        let request = arguments.renditions[rendition].request
        let name = try await name(of: opened, for: request, index: index(source, rendition: rendition))
        let path = name.map { self.path(of: $0) }
        if case .origin = arguments.place, let path {
            return try await storeBelowOrigin(opened, for: request, at: path)
        }
        if let path {
            // Check before the work is done; the file is checked again when it gets its name.
            if !replaces, FilePath.kind(of: path) == S_IFREG { throw ResultFile.existing.about(path) }
            if name?.utf8.contains(UInt8(ascii: "/")) ?? false { try FilePath.makeFolder(FilePath.folder(of: path)) }
        }
        let rendered = try await thumbnail(of: opened, for: request).image
        guard let path, let name else {
            try await session.files.run { _ in
                do throws(CommandFailure) {
                    try ResultFile.blockingWrite(rendered.bytes, to: STDOUT_FILENO)
                } catch {
                    throw error.about("standard output")
                }
            }
            return .rendered(path: "-", rendered)
        }
        let work = record.map { $0.work(sources[source].source, rendition: arguments.renditions[rendition]) }
        try await session.files.run { [replaces, record, isDurable] _ in
            do throws(CommandFailure) {
                try ResultFile.blockingWrite(
                    rendered.bytes, to: path, replaces: replaces, isDurable: isDurable, writesThrough: record == nil
                ) { (stamp) throws(CommandFailure) in
                    if let record, let work { try record.blockingAdd(work, name: name, stamp: stamp) }
                }
            } catch {
                throw error.about(path)
            }
        }
        return .rendered(path: path, rendered)
    }

    private func thumbnail(of opened: OpenedSource, for request: Request) async throws -> Thumbnail {
        let rendered = try await session.thumbnail(of: opened, for: request)
        try Task.checkCancellation()
        return rendered
    }

    /// Renders a result and stores it below a named origin.
    private func storeBelowOrigin(
        _ opened: OpenedSource, for request: Request, at path: String
    ) async throws -> Outcome.Kind {
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
        switch arguments.place {
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
        switch arguments.place {
        case .standardOutput, .file: name
        case .folder(let folder): FilePath.joined(folder, with: name)
        case .origin(let start): start + name
        }
    }
}

enum SourceQueue {
    /// Calls `report` for each outcome as it arrives, in one task.
    ///
    /// Results that failed because of too much parallel work are retried at the end, one source at a time. After a
    /// failure that ends everything, or if the task is canceled, no more results are started.
    ///
    /// - Parameter outcomes: Renders a source, in all renditions or those in the second argument.
    /// - Returns: Whether all sources were tried.
    static func run(
        _ count: Int, atOnce: Int, _ outcomes: @escaping @Sendable (Int, [Int]?) async -> [Outcome],
        report: (Outcome) -> Void
    ) async -> Bool {
        var again: [(source: Int, renditions: [Int])] = []
        var isEnded = false
        await withTaskGroup(of: [Outcome].self) { group in
            var next = 0
            func begin() {
                guard next < count, !isEnded, !Task.isCancelled else { return }
                let source = next
                next += 1
                group.addTask { await outcomes(source, nil) }
            }
            for _ in 0..<max(1, atOnce) { begin() }
            while let done = await group.next() {
                let isCanceled = Task.isCancelled
                let isRetried: (Outcome) -> Bool = { !isCanceled && $0.failure?.isWorthRetrying ?? false }
                for outcome in done where !isRetried(outcome) { report(outcome) }
                let renditions = done.filter(isRetried).map(\.rendition)
                if let source = done.first?.source, !renditions.isEmpty { again.append((source, renditions)) }
                isEnded = isEnded || done.contains { $0.failure?.isFatal ?? false }
                begin()
            }
            isEnded = isEnded || next < count
        }
        for (source, renditions) in again {
            guard !isEnded, !Task.isCancelled else { return false }
            for done in await outcomes(source, renditions) {
                report(done)
                isEnded = isEnded || done.failure?.isFatal ?? false
            }
        }
        return !isEnded && !Task.isCancelled
    }
}
