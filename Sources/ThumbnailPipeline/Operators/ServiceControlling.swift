import Coordination
import DiskCaching
package import Downloading
import SharedCaching
package import Text
import ThumbnailTypes

/// The figures and commands for operators.
package protocol ServiceControlling: Sendable {
    /// The state of the disk cache; nil without one.
    var diskCache: LayerState? { get }
    /// The state of the shared cache; nil without one.
    var sharedCache: LayerState? { get }
    /// The state of the store where results stay; nil without one.
    var resultStore: LayerState? { get }
    /// One entry for each transfer under way or waiting.
    var downloads: [FlightSnapshot] { get }
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
    /// Removes the sources that were asked for under a tag, as ``remove(source:)`` does.
    func remove(tag: ExactText) async throws -> RemovedEntries
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

/// The downloads that an operator cancelled.
package struct CancelledDownloads: Sendable, Equatable {
    /// Downloads that ran or waited for a slot.
    package var downloads = 0
    /// Callers that waited for them.
    package var callers = 0
}

/// Whether the disk cache, the shared cache or the result store is used.
package enum LayerState: String, Sendable {
    /// It is in use.
    case up
    /// It is read, and has no room for writes.
    case full
    /// It is too slow or fails, and is probed.
    case suspended
    /// There is no connection, or the disk cache is done without for a while.
    case down
}

extension LayerState {
    init(_ disk: PipelineDisk) {
        let statistics = disk.store.statistics
        self = !statistics.isWorking ? .down : statistics.isFull ? .full : .up
    }

    init(_ tier: SharedTier) { self = LayerState(rawValue: tier.store.statistics.state) ?? .down }
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
    package var names: [String] = []
    /// Whether a source of it has worked, or the settings name it; others may have been made up by clients.
    package var isProven = false
}

extension OriginStatus {
    /// The state of an origin as the downloader knows it; `names` are the named origins there.
    init(_ origin: OriginSnapshot, names: [String] = []) {
        self.init(
            origin: origin.origin.description,
            state: origin.isSuspended
                ? .suspended : origin.isReachable.map { $0 ? .reachable : .notReachable } ?? .unknown,
            retryAfterSeconds: origin.retryAfter?.seconds, names: names, isProven: origin.isProven)
    }
}
