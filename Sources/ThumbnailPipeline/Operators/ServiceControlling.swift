import Coordination
package import Downloading
package import Text
import ThumbnailTypes

package protocol ServiceControlling: Sendable {
    /// The states of the caches below memory, by their names in `/status`.
    var layers: [(name: String, state: LayerState)] { get }
    var downloads: [FetchSnapshot] { get }
    var origins: [OriginStatus] { get }
    /// Empties all caches; returns the removed entries.
    ///
    /// - Throws: A ``ServiceError`` if the shared cache is unreachable.
    func removeAll() async throws -> RemovedEntries
    /// Removes a source, everything derived from it and remembered failures; returns the removed entries.
    ///
    /// - Throws: A ``ServiceError`` if `source` is not a URL, or the shared cache is unreachable.
    func remove(source: ExactText) async throws -> RemovedEntries
    /// Removes the sources requested under a tag, as ``remove(source:)`` does.
    func remove(tag: ExactText) async throws -> RemovedEntries
    /// Cancels one caller's wait; returns false if no caller waits under this receipt.
    func cancel(receipt: String) -> Bool
    /// Cancels the downloads of a source for all callers, as if each had been cancelled.
    ///
    /// - Throws: A ``ServiceError`` if `source` is not a URL.
    func cancelDownloads(of source: ExactText) throws -> CancelledDownloads
    /// Validates a source with its origin now, under this receipt.
    ///
    /// - Throws: A ``ServiceError`` if `source` is not a URL; `CancellationError`.
    func refresh(source: ExactText, receipt: String) async throws -> SourceRefresh
    /// Returns the name of a source for operators: its canonical URL, or `NAME:PATH` of a named origin.
    ///
    /// - Throws: A ``ServiceError`` if `source` is not a URL.
    func sourceName(of source: ExactText) throws -> ExactText
    var figures: ServiceFigures { get }
}

package struct CancelledDownloads: Sendable, Equatable {
    package var downloads = 0
    package var callers = 0
}

package struct OriginStatus: Sendable, Equatable {
    /// The health of an origin as observed in transfers.
    package enum State: String, Sendable, CaseIterable {
        /// No conclusive transfer yet.
        case unknown
        case reachable
        case notReachable = "not_reachable"
        /// The origin is not contacted for a while, because too many transfers failed.
        case suspended
    }

    /// Scheme, host and port; `NAME:` for a folder.
    package var origin: String
    package var state: State
    /// The cause of a suspension: `no_response` or `server_errors`.
    package var cause: String?
    /// The minimum time for which requests will be rejected.
    package var retryAfterSeconds: Double?
    package var names: [String] = []
    /// Whether one of its sources has worked, or the settings name it; clients may have invented others.
    package var isProven = false
}

extension OriginStatus {
    /// Describes an origin as the downloader knows it; `names` are its named origins.
    init(_ origin: OriginSnapshot, names: [String] = []) {
        self.init(
            origin: origin.origin.description,
            state: origin.isSuspended
                ? .suspended : origin.isReachable.map { $0 ? .reachable : .notReachable } ?? .unknown,
            cause: origin.cause, retryAfterSeconds: origin.retryAfter?.seconds, names: names, isProven: origin.isProven)
    }
}
