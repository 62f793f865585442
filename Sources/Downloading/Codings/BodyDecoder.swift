import Coordination
import Memory

/// Decodes `Content-Encoding` on one thread; bodies take turns, because a small one can expand to the limit.
final class BodyDecoder: Sendable {
    private let worker: WorkerPool

    private static let turn = Duration.milliseconds(2)

    init() {
        // At least `maximumTransfers`, so that the queue never rejects.
        worker = WorkerPool(count: 1, maximumQueued: 10_000, name: "content codings")
    }

    var waitingCount: Int { worker.queuedCount }

    func decode(
        _ source: ReceivedSource, for request: TransferRequest, progress: TransferProgress
    ) async throws -> ReceivedSource {
        let settings = request.identity.rules.configuration
        let limit = min(settings.maximumBytes, request.maximumBytes ?? .max)
        let end = SystemTimekeeper().now + settings.downloadTimeout
        return try await DownloadError.replacingPoolErrors {
            var bytes = source.bytes
            var head = source.head
            for coding in source.codings {
                // From here, the block is counted by `SharedBytes`, not by the transfer.
                progress.begin(expecting: nil)
                let decoding = try ContentDecoder(bytes, coding: coding, maximumBytes: limit) { count, window in
                    try progress.receive(count, window: window)
                }
                while try await !takeTurn(decoding, until: end) {}
                let whole = decoding.finish()
                bytes = whole.bytes
                head = source.head.identified(by: whole.digest)
            }
            guard bytes.count > 0 else { throw DownloadError.emptyBody }
            return ReceivedSource(head: head, bytes: bytes, timings: source.timings)
        }
    }

    private func takeTurn(_ decoding: ContentDecoder, until end: Duration) async throws -> Bool {
        try await worker.run { token in
            let now = SystemTimekeeper().now
            guard now < end else { throw DeadlineExceeded() }
            repeat {
                try token.check()
                if try decoding.step() { return true }
            } while SystemTimekeeper().now < now + Self.turn
            return false
        }
    }

    func shutDown() { worker.shutDown() }
}
