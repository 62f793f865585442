package import Coordination

/// Loads only from origins that are worth asking, and learns from every end which are.
///
/// A suspended origin's transfers are refused before any work, and those that a redirect leads there go no further; others' go on as
/// if nothing had happened.
package final class GuardedLoader: DataLoading {
    private let loader: any DataLoading
    private let timekeeper: any Timekeeper
    private let book = Locked(OriginHealthBook())

    /// Guards the origins that `loader` asks.
    package init(_ loader: any DataLoading, timekeeper: any Timekeeper) {
        self.loader = loader
        self.timekeeper = timekeeper
    }

    /// Fetches a source, unless its origin, or one that it is redirected to, is suspended.
    ///
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferAnswer {
        let stay = Locked<Stay?>(nil)
        try move(to: request.identity.url.origin, stay)
        let result: Result<TransferAnswer, any Error>
        do {
            let answer = try await loader.load(request, progress: progress) { (origin) throws(DownloadError) in
                try admitHop(origin)
                try self.move(to: origin, stay)
            }
            result = .success(answer)
        } catch {
            result = .failure(error)
        }
        leave(stay, OriginHealth.Report(result))
        return try result.get()
    }

    /// The origins asked lately and how they are.
    package var originHealth: OriginHealthSummary { book.withLock { $0.summary(at: timekeeper.now) } }

    /// Lets a transfer go on to `origin`, or not; one that sent it elsewhere has answered.
    private func move(to origin: OriginKey, _ stay: Locked<Stay?>) throws(DownloadError) {
        guard stay.withLock({ $0?.origin }) != origin else { return }
        leave(stay, .success)
        switch book.withLock({ $0.admit(origin, at: timekeeper.now) }) {
        case .granted(let pass): stay.withLock { $0 = Stay(origin: origin, pass: pass) }
        case .refused(let pause): throw .originSuspended(seconds: max(1, Int(pause.seconds.rounded(.up))))
        }
    }

    /// Ends a transfer's stay at an origin, where there is one.
    private func leave(_ stay: Locked<Stay?>, _ report: OriginHealth.Report) {
        let ended = stay.withLock { stay in
            defer { stay = nil }
            return stay
        }
        if let ended { book.withLock { $0.end(ended.origin, ended.pass, report, at: timekeeper.now) } }
    }
}

/// The origin that a transfer is at, and its right to be there.
private struct Stay {
    let origin: OriginKey
    let pass: OriginHealth.Pass
}
