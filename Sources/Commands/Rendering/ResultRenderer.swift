import Composition
import Coordination
import Downloading
import Glibc
import Memory
import Recipes
import Settings
import Text
import ThumbnailPipeline
import ThumbnailTypes

enum ResultPlace: Sendable, Equatable {
    case standardOutput
    case file(String)
    case folder(String)
    /// Below a named origin: `NAME:PATH/`.
    case origin(String)
}

struct Outcome: Sendable {
    enum Kind: Sendable {
        case rendered(path: String, EncodedImage)
        /// `isFinished`: the existing file is known to be the result of an earlier run.
        case skipped(path: String, isFinished: Bool)
        case failed(CommandFailure)
    }

    let index: Int
    let source: String
    let kind: Kind
    let duration: Duration

    var failure: CommandFailure? { if case .failed(let failure) = kind { failure } else { nil } }
}

struct ResultRenderer: Sendable {
    let session: CommandSession
    let request: Request
    let place: ResultPlace
    let names: SharedResultNames
    let replaces: Bool
    var record: BatchRecord?
    var keepsFinished = false
    /// Bytes must be on disk before their name.
    var isDurable = false

    func outcome(of source: CommandSource, _ index: Int) async -> Outcome {
        let start = SystemTimekeeper().now
        let kind: Outcome.Kind
        do {
            kind = try await result(of: source, index)
        } catch {
            kind = self.kind(of: CommandFailure(error))
        }
        // Later sources with the same stem wait until this one has a name, or none.
        names.pass(index)
        return Outcome(index: index, source: source.text, kind: kind, duration: SystemTimekeeper().now - start)
    }

    /// Among many results, an existing file is not a failure, because it usually comes from an earlier run.
    private func kind(of failure: CommandFailure) -> Outcome.Kind {
        switch place {
        case .folder, .origin:
            guard failure.code == ResultFile.existing.code, let path = failure.subject else { return .failed(failure) }
            return .skipped(path: path, isFinished: false)
        case .standardOutput, .file: return .failed(failure)
        }
    }

    private func result(of source: CommandSource, _ index: Int) async throws -> Outcome.Kind {
        try Task.checkCancellation()
        let work = record.map { $0.work(source) }
        if keepsFinished, let record, let work, case .folder(let folder) = place,
            let ending = record.ending(of: work)
        {
            let name = await names.name(of: index, fileExtension: ending)
            let path = FilePath.joined(folder, name)
            if let stamp = ResultFile.Stamp(of: path), record.isFinished(work, name, stamp) {
                return .skipped(path: path, isFinished: true)
            }
        }
        let opened = try await session.open(source, receipt: "source-\(index)")
        defer { session.close(opened) }
        let path = try await path(of: index, ending: format(of: opened).fileExtension)
        if case .origin = place, let path { return try await storeBelowOrigin(opened, index, at: path) }
        let rendered = try await thumbnail(of: opened, index).image
        guard let path else {
            try await session.files.run { _ in
                do throws(CommandFailure) {
                    try ResultFile.blockingWrite(rendered.bytes, to: STDOUT_FILENO)
                } catch {
                    throw error.about("standard output")
                }
            }
            return .rendered(path: "-", rendered)
        }
        try await session.files.run { [replaces, record, isDurable] _ in
            do throws(CommandFailure) {
                try ResultFile.blockingWrite(rendered.bytes, to: path, replaces: replaces, isDurable: isDurable) {
                    (stamp) throws(CommandFailure) in
                    if let record, let work { try record.blockingAdd(work, String(FilePath.name(of: path)), stamp) }
                }
            } catch {
                throw error.about(path)
            }
        }
        return .rendered(path: path, rendered)
    }

    private func thumbnail(of opened: OpenedSource, _ index: Int) async throws -> Thumbnail {
        let pipeline = session.engine.pipeline
        let rendered = try await pipeline.thumbnail(
            for: Job(pipeline.resolved(request, of: opened), receipt: "source-\(index)"))
        try Task.checkCancellation()
        return rendered
    }

    private func storeBelowOrigin(_ opened: OpenedSource, _ index: Int, at path: String) async throws -> Outcome.Kind {
        let resultWriter = session.engine.resultWriter
        let destination: Destination
        do throws(Destination.Refusal) {
            destination = try resultWriter.destination(ExactText(path))
        } catch {
            throw CommandFailure(code: "bad_destination", "\(path): invalid destination")
        }
        if !replaces, try await resultWriter.holds(destination) { throw ResultFile.existing.about(path) }
        let rendered = try await thumbnail(of: opened, index)
        let stored = try await resultWriter.put(rendered, at: destination, of: opened)
        return .rendered(path: stored.location, rendered.image)
    }

    /// Nil for standard output; throws if an existing file must not be replaced.
    private func path(of index: Int, ending: String) async throws -> String? {
        let path: String
        switch place {
        case .standardOutput: return nil
        case .file(let name): path = name
        case .folder(let folder):
            path = FilePath.joined(folder, await names.name(of: index, fileExtension: ending))
        case .origin(let start): return start + (await names.name(of: index, fileExtension: ending))
        }
        // Checked before the work is done, and again when the file gets its name.
        let kind = FilePath.kind(of: path)
        if !replaces, kind == S_IFREG { throw ResultFile.existing.about(path) }
        return path
    }

    /// Throws for a result that cannot be encoded.
    private func format(of opened: OpenedSource) throws -> ImageFormat {
        try RenderPlan(for: request, of: PerSource(opened.header), by: session.engine.settings.pipeline).format
    }
}

enum SourceQueue {
    /// Calls `report` for each outcome as it arrives, on one task.
    ///
    /// Sources that failed because of too much parallel work are retried at the end, one at a time. After a failure
    /// that ends all, or when the task is canceled, no more are started. Returns whether all were tried.
    static func run(
        _ sources: [CommandSource], atOnce: Int,
        _ outcome: @escaping @Sendable (CommandSource, Int) async -> Outcome, report: (Outcome) -> Void
    ) async -> Bool {
        var again: [Outcome] = []
        var isEnded = false
        await withTaskGroup(of: Outcome.self) { group in
            var next = 0
            func begin() {
                guard next < sources.count, !isEnded, !Task.isCancelled else { return }
                let index = next
                next += 1
                group.addTask { await outcome(sources[index], index) }
            }
            for _ in 0..<max(1, atOnce) { begin() }
            while let done = await group.next() {
                if let failure = done.failure, failure.isWorthRetrying, !Task.isCancelled {
                    again.append(done)
                } else {
                    report(done)
                }
                isEnded = isEnded || done.failure?.endsAll ?? false
                begin()
            }
            isEnded = isEnded || next < sources.count
        }
        for earlier in again {
            guard !isEnded, !Task.isCancelled else { return false }
            let done = await outcome(sources[earlier.index], earlier.index)
            report(done)
            isEnded = done.failure?.endsAll ?? false
        }
        return !isEnded && !Task.isCancelled
    }
}
