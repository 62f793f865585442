package import Coordination

/// Loads only from origins that are worth asking, and learns from every end which are.
///
/// A suspended origin's transfers are refused before any work; others' go on as if nothing had happened.
package final class GuardedLoader: DataLoading {
    private let loader: any DataLoading
    private let timekeeper: any Timekeeper
    private let book = Locked(OriginHealthBook())

    /// Guards the origins that `loader` asks.
    package init(_ loader: any DataLoading, timekeeper: any Timekeeper) {
        self.loader = loader
        self.timekeeper = timekeeper
    }

    /// Fetches a source, unless its origin is suspended.
    ///
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func load(_ request: TransferRequest, progress: TransferProgress) async throws -> TransferAnswer {
        let origin = request.identity.url.origin
        let pass: OriginHealth.Pass
        switch book.withLock({ $0.admit(origin, at: timekeeper.now) }) {
        case .granted(let granted): pass = granted
        case .refused(let pause):
            throw DownloadError.originSuspended(seconds: max(1, Int((pause.seconds).rounded(.up))))
        }
        let result: Result<TransferAnswer, any Error>
        do {
            result = .success(try await loader.load(request, progress: progress))
        } catch {
            result = .failure(error)
        }
        let report = OriginHealth.Report(result)
        let last = progress.origin ?? origin
        book.withLock { book in
            // An origin that sent a transfer elsewhere has answered.
            book.end(origin, pass, last == origin ? report : .success, at: timekeeper.now)
            if last != origin { book.end(last, nil, report, at: timekeeper.now) }
        }
        return try result.get()
    }

    /// The origins asked lately and how they are.
    package var originHealth: OriginHealthSummary { book.withLock { $0.summary(at: timekeeper.now) } }
}
