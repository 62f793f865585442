import Coordination
import Crypto
import HTTPTypes
import Memory
import Synchronization

package protocol DataLoading: Sendable {
    /// Loads a source; returns or throws only after the connection is closed or idle.
    ///
    /// Canceling the task ends the transfer.
    ///
    /// - Parameter admitHop: Called with the URL of each hop before its name is resolved; an error ends the transfer.
    ///   Must be fast.
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferResult

    var originHealth: OriginHealthSummary { get }

    /// Pauses or resumes new transfers to an origin.
    func setHeld(_ isHeld: Bool, origin: OriginKey)

    func isHeld(_ origin: OriginKey) -> Bool
}

/// Admits a request to a URL, or throws the reason for rejecting it.
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
    case source(ReceivedSource)
    /// A range; only if one was requested.
    case range(SourceRange)
    case notModified(SourceConfirmation)
    /// The header of a successful response; only if the body was not requested.
    case head
}
