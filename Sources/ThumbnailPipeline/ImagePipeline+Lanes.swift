import Coordination
import ImageCaching
import Imaging
import Memory

/// Who works on an image, and when.
extension ImagePipeline {
    /// What it takes in time to make a result, as things stand.
    ///
    /// - Parameter bytes: The source's file, where it is at hand.
    func price(of key: ResultKey, _ record: SourceRecord, bytes: SharedBytes? = nil) -> WorkPrice {
        let isDecoded = caches.decoded.contains(key.decodeKey) || decodes.contains(key.decodeKey)
        let byteCount = isDecoded ? nil : (bytes ?? caches.bytes(of: record))?.count ?? 0
        return WorkPrice(of: key.plan, from: record.header, decoding: byteCount)
    }

    /// Runs `body` at once where the work is small, and else when it is its turn.
    ///
    /// - Parameter patience: Bound on the wait for a turn or a worker; nil for what the lane grants, which `body` is told.
    /// - Throws: `WorkerPool.Full`, or what `body` throws.
    func inLane<Value: Sendable>(
        _ price: WorkPrice, patience: Duration?, _ body: (_ patience: Duration) async throws -> Value
    ) async throws -> Value {
        let bound = patience ?? admission.patience(in: price.lane)
        guard price.lane == .dear else { return try await body(bound) }
        return try await lanes.turns.run(price: price.sum, patience: bound) {
            // Its small half waits among its like, behind nobody who came later.
            try await body(patience ?? admission.patience(in: .small))
        }
    }
}
