import Coordination
package import Downloading
package import Text
import ThumbnailTypes

package protocol ServiceControlling: Sendable {
    var layers: [(name: String, state: LayerState)] { get }
    var downloads: [FetchSnapshot] { get }
    var origins: [OriginStatus] { get }
    /// - Throws: A ``ServiceError`` if the shared cache is unreachable.
    func removeAll() async throws -> RemovedEntries
    /// - Throws: A ``ServiceError`` if `source` is not a URL, or the shared cache is unreachable.
    func remove(source: ExactText) async throws -> RemovedEntries
    func remove(tag: ExactText) async throws -> RemovedEntries
    func cancel(receipt: String) -> Bool
    /// - Throws: A ``ServiceError`` if `source` is not a URL.
    func cancelDownloads(of source: ExactText) throws -> CanceledDownloads
    /// - Throws: A ``ServiceError`` if `source` is not a URL; `CancellationError`.
    func refresh(source: ExactText, receipt: String) async throws -> SourceRefresh
    /// The canonical URL, or `NAME:PATH` of a named origin; throws a ``ServiceError`` if `source` is not a URL.
    func sourceName(of source: ExactText) throws -> ExactText
    /// Pauses or resumes new transfers to an origin.
    ///
    /// - Parameter origin: The name of a named origin, or a URL.
    /// - Throws: A ``ServiceError`` if `origin` is neither.
    func setHeld(_ isHeld: Bool, origin: ExactText) throws -> OriginStatus
    var statistics: ServiceStatistics { get }
    /// The number of the tenant's tasks in the work queues; nil if its clients queue separately.
    func waitingCount(of account: TenantAccount) -> Int?
    /// CPU time of the last ten minutes, largest first.
    var work: [WorkUsage.Entry] { get }
}

package struct CanceledDownloads: Sendable, Equatable {
    package var downloads = 0
    package var callers = 0
}
