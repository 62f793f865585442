import Synchronization

/// Fetches one source: the mechanism under the downloader's policy.
package protocol DataLoading: Sendable {
    /// Fetches the source, and reports as it arrives.
    ///
    /// Returns or throws only when the transfer has ended and its connection is closed or idle; cancelling the task ends it.
    ///
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    func load(_ request: SourceRequest, progress: TransferProgress) async throws -> Source
}

/// How far a transfer has come: written by the transfer's thread, read by anyone.
package final class TransferProgress: Sendable {
    private let received = Atomic(0)
    /// -1 while unknown.
    private let expected = Atomic(-1)

    /// Nothing received, nothing announced.
    package init() {}

    /// Bytes of the body so far.
    package var receivedBytes: Int { received.load(ordering: .relaxed) }

    /// The announced length of the body.
    package var expectedBytes: Int? {
        let count = expected.load(ordering: .relaxed)
        return count < 0 ? nil : count
    }

    /// Whether at least half of the announced bytes are in.
    package var isPastHalf: Bool {
        guard let expectedBytes, expectedBytes > 0 else { return false }
        return receivedBytes >= expectedBytes - receivedBytes
    }

    /// Notes the announced length.
    package func expect(_ count: Int?) { expected.store(count ?? -1, ordering: .relaxed) }

    /// Notes bytes of the body.
    package func receive(_ count: Int) { received.wrappingAdd(count, ordering: .relaxed) }
}
