import Composition
import Coordination
import Downloading
import Glibc
import Imaging
import Memory
import Settings
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Where the results of a command go.
enum ResultPlace: Sendable, Equatable {
    case standardOutput
    case file(String)
    case folder(String)
    /// Below a named origin: `NAME:PATH/`.
    case origin(String)
}

/// The result for one source.
struct Outcome: Sendable {
    enum Kind: Sendable {
        /// A result was written there.
        case made(path: String, EncodedImage)
        /// A file is there that stays: the result of an earlier run, as far as that is known.
        case kept(path: String, isFinished: Bool)
        case failed(CommandFailure)
    }

    let index: Int
    let source: String
    let kind: Kind
    let duration: Duration

    var failure: CommandFailure? {
        if case .failed(let failure) = kind { failure } else { nil }
    }
}

/// Makes the result of one source after another, each written where it belongs.
struct ResultMaker: Sendable {
    let session: CommandSession
    let request: ThumbnailRequest
    let place: ResultPlace
    /// The names in a folder.
    let names: SharedResultNames
    /// Whether files that exist are replaced.
    let replaces: Bool
    /// The record of finished results in a folder; nil if none is written.
    var record: BatchRecord?
    /// Whether results that are finished stay.
    var keepsFinished = false
    /// Whether bytes are on the disk before their name is.
    var isDurable = false

    /// Makes the result of a source; never throws.
    func outcome(of source: CommandSource, _ index: Int) async -> Outcome {
        let start = SystemTimekeeper().now
        let kind: Outcome.Kind
        do {
            kind = try await result(of: source, index)
        } catch {
            kind = self.kind(of: CommandFailure(error))
        }
        // Later sources of the same stem wait until this one has a name, or has none.
        names.pass(index)
        return Outcome(index: index, source: source.text, kind: kind, duration: SystemTimekeeper().now - start)
    }

    /// Among many results, a file that exists is no failure: an earlier run will have made it.
    private func kind(of failure: CommandFailure) -> Outcome.Kind {
        switch place {
        case .folder, .origin:
            guard failure.code == ResultFile.existing.code, let path = failure.subject else { return .failed(failure) }
            return .kept(path: path, isFinished: false)
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
                return .kept(path: path, isFinished: true)
            }
        }
        let opened = try await session.opened(source, receipt: "source-\(index)")
        defer { session.close(opened) }
        let path = try await path(of: index, ending: format(of: opened).fileExtension)
        if case .origin = place, let path { return try await placed(opened, index, at: path) }
        let made = try await thumbnail(of: opened, index).image
        guard let path else {
            try await session.files.run { _ in
                do throws(CommandFailure) {
                    try ResultFile.blockingWrite(made.bytes, to: STDOUT_FILENO)
                } catch {
                    throw error.about("standard output")
                }
            }
            return .made(path: "-", made)
        }
        try await session.files.run { [replaces, record, isDurable] _ in
            do throws(CommandFailure) {
                try ResultFile.blockingWrite(made.bytes, to: path, replaces: replaces, isDurable: isDurable) {
                    (stamp) throws(CommandFailure) in
                    if let record, let work { try record.blockingAdd(work, String(FilePath.name(of: path)), stamp) }
                }
            } catch {
                throw error.about(path)
            }
        }
        return .made(path: path, made)
    }

    private func thumbnail(of opened: OpenedSource, _ index: Int) async throws -> Thumbnail {
        let pipeline = session.engine.pipeline
        let made = try await pipeline.thumbnail(
            for: Call(pipeline.resolved(request, of: opened), receipt: "source-\(index)"))
        try Task.checkCancellation()
        return made
    }

    /// Makes a result and puts it below a named origin.
    private func placed(_ opened: OpenedSource, _ index: Int, at path: String) async throws -> Outcome.Kind {
        let placer = session.engine.placer
        let destination: Destination
        do throws(Destination.Refusal) {
            destination = try placer.destination(ExactText(path))
        } catch {
            throw CommandFailure(code: "bad_destination", "\(path): no place for a result")
        }
        if !replaces, try await placer.holds(destination) { throw ResultFile.existing.about(path) }
        let made = try await thumbnail(of: opened, index)
        let placed = try await placer.put(made, at: destination, of: opened)
        return .made(path: placed.location, made.image)
    }

    /// Where a result goes; nil for standard output.
    ///
    /// - Throws: ``CommandFailure`` if a file is there that may not be replaced.
    private func path(of index: Int, ending: String) async throws -> String? {
        let path: String
        switch place {
        case .standardOutput: return nil
        case .file(let name): path = name
        case .folder(let folder):
            path = FilePath.joined(folder, await names.name(of: index, fileExtension: ending))
        case .origin(let start): return start + (await names.name(of: index, fileExtension: ending))
        }
        // Judged before the work is done; it is judged again when the file gets its name.
        let kind = FilePath.kind(of: path)
        if !replaces, kind == S_IFREG { throw ResultFile.existing.about(path) }
        return path
    }

    /// The format that the result will have.
    ///
    /// - Throws: An ``ImagingError`` for a result that cannot be made.
    private func format(of opened: OpenedSource) throws -> ImageFormat {
        try RenderPlan(for: request, of: PerSource(opened.header), by: session.engine.settings.pipeline).format
    }
}

/// Works on many sources, so many at a time, in their order.
enum ManySources {
    /// Calls `report` for each outcome as it comes, on one task.
    ///
    /// Sources that failed because too much was done at once are tried again at the end, one at a time. After a failure
    /// that ends all, and when the task is cancelled, no more are begun.
    ///
    /// - Returns: Whether all were tried.
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
