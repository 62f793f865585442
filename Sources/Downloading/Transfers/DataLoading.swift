import Coordination
import Crypto
import HTTPTypes
import Memory
import Synchronization

package protocol DataLoading: Sendable {
    /// Returns or throws only when the transfer has ended and its connection is closed or idle; canceling the task
    /// ends it.
    ///
    /// - Parameter admitHop: Called before each hop with its URL; an error ends the transfer before any name lookup.
    ///   Must be quick.
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferResult

    var originHealth: OriginHealthSummary { get }

    /// Begins no transfer to a held origin, until it is resumed.
    func setHeld(_ isHeld: Bool, origin: OriginKey)

    func isHeld(_ origin: OriginKey) -> Bool
}

/// Admits a transfer to a URL, or throws the reason for rejecting it.
package typealias HopAdmission = @Sendable (SourceURL) throws(DownloadError) -> Void

extension DataLoading {
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func load(_ request: TransferRequest, progress: TransferProgress) async throws -> TransferResult {
        try await load(request, progress: progress) { (_) throws(DownloadError) in }
    }

    package var originHealth: OriginHealthSummary { OriginHealthSummary() }

    package func setHeld(_ isHeld: Bool, origin: OriginKey) {}

    package func isHeld(_ origin: OriginKey) -> Bool { false }
}

package enum TransferResult: Sendable {
    case source(Source)
    /// A range, only if one was requested.
    case part(SourcePart)
    case notModified(SourceConfirmation)
    /// The header of a response that is not an error, if no more was requested.
    case head
}
