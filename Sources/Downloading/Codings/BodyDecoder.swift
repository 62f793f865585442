import Coordination
import Crypto
import Memory

/// Decodes the bodies of sources that came with a content coding, one after the other on a thread for it.
///
/// Not on the thread of the transfers: a small body can take as long as the largest one.
final class BodyDecoder: Sendable {
    private let configuration: DownloadConfiguration
    private let worker: WorkerPool

    /// Starts the thread.
    init(_ configuration: DownloadConfiguration) {
        self.configuration = configuration
        worker = WorkerPool(
            count: 1, maximumQueued: configuration.maximumActiveDownloads + configuration.maximumQueuedDownloads,
            name: "content codings")
    }

    /// The source without its codings; its decoded bytes count as received.
    ///
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    func decode(_ source: Source, for request: TransferRequest, progress: TransferProgress) async throws -> Source {
        let origin = request.identity.originName.flatMap { configuration.origins[$0] }
        let settings = origin.map { configuration.adapted(to: $0) } ?? configuration
        let limit = min(settings.maximumBytes, request.maximumBytes ?? .max)
        do {
            return try await worker.run(timeLimit: settings.downloadTimeout) { token in
                var bytes = source.bytes
                for coding in source.codings {
                    // The coded bytes count themselves by now.
                    progress.begin(expecting: nil)
                    let decoding = ContentDecoding(maximumBytes: limit) { count in
                        try token.check()
                        try progress.receive(count)
                    }
                    bytes = try decoding.decode(bytes, coding)
                }
                guard bytes.count > 0 else { throw DownloadError.emptyBody }
                return Source(head: source.head.identified(by: bytes), bytes: bytes, timings: source.timings)
            }
        } catch is WorkerPool.Full {
            throw DownloadError.queueFull
        } catch is WorkerPool.Stopped {
            throw DownloadError.shuttingDown
        } catch is DeadlineExceeded {
            throw DownloadError.timedOut
        }
    }

    /// Cancels all work and waits for the thread to end.
    func shutDown() { worker.shutDown() }
}

extension SourceHead {
    /// The same header for other bytes: their digest identifies them where there is no tag.
    fileprivate func identified(by bytes: SharedBytes) -> SourceHead {
        guard case .digest = validator else { return self }
        return SourceHead(
            identity: identity, url: url, status: status,
            validator: .digest(bytes.withBytes { SHA256.hash($0) }.hexadecimal), headerFields: headerFields,
            selectingFields: selectingFields, requestedAt: requestedAt, receivedAt: receivedAt)
    }
}
