import Coordination
import ImageCaching
import Imaging
import Memory

/// Estimates the work that a result still needs, by the caches and the work that is running.
struct WorkEstimator: Sendable {
    let caches: PipelineCaches
    let decodes: SharedTasks<DecodeKey, DecodedImage>
    let renders = SharedTasks<ResultKey, Render>()

    /// Whether the result can be had, as things stand, without the sources' bytes.
    func isWithinReach(_ key: ResultKey) -> Bool { needsNoWorker(key) || key.decodeKeys.allSatisfy { isDecoded($0) } }

    /// Whether the result is there, though a source may be stale, or is being made for other callers.
    func needsNoWorker(_ key: ResultKey) -> Bool { caches.memory.results.contains(key) || renders.contains(key) }

    /// Whether pixels are there, or are being made for other renders.
    func isDecoded(_ key: DecodeKey, held: HeldImages? = nil) -> Bool {
        caches.memory.decoded.contains(key) || decodes.contains(key) || held?.contains(key) == true
    }

    /// Of which sources the bytes are needed to make the result, as things stand.
    func bytesNeeded(for key: ResultKey) -> PerSource<Bool> {
        let isThere = needsNoWorker(key)
        return key.decodeKeys.mapValues { !isThere && !isDecoded($0) }
    }

    /// The time that it takes to make a result, as things stand.
    ///
    /// - Parameters:
    ///   - bytes: The sources' files, if they are at hand.
    ///   - held: The decoded images that the caller holds.
    func price(
        of key: ResultKey, _ records: PerSource<SourceRecord>, bytes: PerSource<SharedBytes?>? = nil,
        held: HeldImages? = nil
    ) -> WorkPrice {
        let keys = key.decodeKeys
        return WorkPrice(of: key, records) { index in
            if isDecoded(keys[index], held: held) { return nil }
            return (bytes?[index] ?? caches.memory.bytes(of: records[index]))?.count ?? 0
        }
    }
}

extension WorkPrice {
    /// The price of a result.
    ///
    /// - Parameter fileByteCount: Bytes of the file of a source, 0 if they are not known; nil if it need not be
    ///   decoded.
    init(of key: ResultKey, _ records: PerSource<SourceRecord>, decoding fileByteCount: (_ index: Int) -> Int?) {
        let decodes = key.decodeKeys.mapWithIndex { index, decode in
            fileByteCount(index).map { decode.timePrice(of: records[index].header, fileByteCount: $0) } ?? .zero
        }
        self.init(decodes: decodes, render: key.plan.timePrice(of: records.image.header))
    }
}
