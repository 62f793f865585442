import Coordination
import ImageCaching
import Imaging
import Memory

/// What is there of a result already, and what the rest of it takes.
struct WorkAtHand: Sendable {
    let caches: PipelineCaches
    let decodes: SharedTasks<DecodeKey, DecodedImage>
    let renders: SharedTasks<ResultKey, Render>

    /// Whether the result can be had, as things stand, without the source's bytes.
    func isWithinReach(_ key: ResultKey) -> Bool { needsNoWorker(key) || isDecoded(key) }

    /// Whether the result is there, though its source may be stale, or others are having it made.
    func needsNoWorker(_ key: ResultKey) -> Bool { caches.results.contains(key) || renders.contains(key) }

    /// Whether the result's pixels are there, or others have them made.
    func isDecoded(_ key: ResultKey) -> Bool {
        caches.decoded.contains(key.decodeKey) || decodes.contains(key.decodeKey)
    }

    /// What it takes in time to make a result, as things stand.
    ///
    /// - Parameter bytes: The source's file, where it is at hand.
    func price(of key: ResultKey, _ record: SourceRecord, bytes: SharedBytes? = nil) -> WorkPrice {
        let byteCount = isDecoded(key) ? nil : (bytes ?? caches.bytes(of: record))?.count ?? 0
        return WorkPrice(of: key.plan, from: record.header, decoding: byteCount)
    }
}
