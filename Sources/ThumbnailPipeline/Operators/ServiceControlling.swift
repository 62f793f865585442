import Coordination
import Downloading
package import Text

/// The figures and commands for operators.
package protocol ServiceControlling: Sendable {
    /// Running transfers, queued transfers, running renders.
    var activity: ServiceActivity { get }
    /// The state of the shared cache; nil without one.
    var sharedCache: SharedCacheState? { get }
    /// Usage of the caches by name, in the order `decoded`, `result`, `source`.
    var cacheUsage: [(name: String, usage: CacheUsage)] { get }
    /// One entry for each transfer under way or waiting.
    var downloads: [DownloadStatus] { get }
    /// The origins asked lately, by name.
    var origins: [OriginStatus] { get }
    /// Empties all caches; returns what was removed.
    ///
    /// - Throws: A ``ServiceError`` if the shared cache cannot be told.
    func removeAll() async throws -> RemovedEntries
    /// Removes a source, all made from it and remembered failures; returns what was removed.
    ///
    /// - Throws: A ``ServiceError`` if `source` is no URL, or the shared cache cannot be told.
    func remove(source: ExactText) async throws -> RemovedEntries
    /// Cancels one caller's wait; returns false if no caller waits under this receipt.
    func cancel(receipt: String) -> Bool
    /// Cancels the downloads of a source for all callers, who are answered as if each had been cancelled.
    ///
    /// - Throws: A ``ServiceError`` if `source` is no URL.
    func cancelDownloads(of source: ExactText) throws -> CancelledDownloads
    /// Asks a source's origin now, under this receipt.
    ///
    /// - Throws: A ``ServiceError`` if `source` is no URL, `CancellationError`.
    func refresh(source: ExactText, receipt: String) async throws -> SourceRefresh
    /// The text that operators see a source under: its canonical URL, or `NAME:PATH` of a named origin.
    ///
    /// - Throws: A ``ServiceError`` if `source` is no URL.
    func sourceName(of source: ExactText) throws -> ExactText
    /// The figures of this moment.
    var figures: ServiceFigures { get }
}

/// Whether the shared cache is used.
package enum SharedCacheState: String, Sendable {
    /// It is in use.
    case up
    /// It is too slow or fails, and is probed.
    case suspended
    /// There is no connection.
    case down
}

/// Counts of the work under way.
package struct ServiceActivity: Sendable, Equatable {
    package var activeDownloads: Int
    /// Transfers waiting for a slot.
    package var queuedDownloads: Int
    /// Decodes and renders on the workers.
    package var activeRenders: Int

    package init(activeDownloads: Int, queuedDownloads: Int, activeRenders: Int) {
        self.activeDownloads = activeDownloads
        self.queuedDownloads = queuedDownloads
        self.activeRenders = activeRenders
    }
}

/// The state of an origin.
package struct OriginStatus: Sendable, Equatable {
    /// The health of an origin as its transfers have shown it.
    package enum State: String, Sendable, CaseIterable {
        /// No transfer has said anything yet.
        case unknown
        /// The last transfer that said anything succeeded.
        case reachable
        /// The last transfer that said anything failed.
        case notReachable = "not_reachable"
        /// So many failed that the origin is not asked for a while.
        case suspended
    }

    /// Scheme, host and port; `NAME:` for a folder.
    package var origin: String
    package var state: State
    /// How long requests will be refused at least.
    package var retryAfterSeconds: Double?
    /// The named origins that it has.
    package var names: [String]
    /// Whether a source of it has worked, or the settings name it; others may have been made up by clients.
    package var isProven: Bool

    package init(
        origin: String, state: State, retryAfterSeconds: Double?, names: [String] = [], isProven: Bool = false
    ) {
        self.origin = origin
        self.state = state
        self.retryAfterSeconds = retryAfterSeconds
        self.names = names
        self.isProven = isProven
    }

    /// The state of an origin as the downloader knows it; `names` are the named origins there.
    init(_ origin: OriginSnapshot, names: [String] = []) {
        self.init(
            origin: origin.origin.description,
            state: origin.isSuspended
                ? .suspended : origin.isReachable.map { $0 ? .reachable : .notReachable } ?? .unknown,
            retryAfterSeconds: origin.retryAfter?.seconds, names: names, isProven: origin.isProven)
    }
}

/// One transfer as operators see it.
package struct DownloadStatus: Sendable, Equatable {
    /// The source: its canonical URL, or `NAME:PATH` of a named origin.
    package var url: String
    package var host: String
    /// Whether the transfer is running; else it is queued.
    package var isRunning: Bool
    package var receivedBytes: Int
    package var expectedBytes: Int?
    package var ageSeconds: Double
    /// One for each waiting caller, in order of arrival.
    package var receipts: [String]

    package init(
        url: String, host: String, isRunning: Bool, receivedBytes: Int, expectedBytes: Int?, ageSeconds: Double,
        receipts: [String]
    ) {
        self.url = url
        self.host = host
        self.isRunning = isRunning
        self.receivedBytes = receivedBytes
        self.expectedBytes = expectedBytes
        self.ageSeconds = ageSeconds
        self.receipts = receipts
    }
}
