import Coordination
import Imaging
import Memory
import Recipes
import ThumbnailTypes

struct WorkEstimator: Sendable {
    let caches: CacheLayers
    let decodes: SharedTasks<DecodeKey, DecodedImage>
    let renders = SharedTasks<ResultKey, RenderedImage>()

    func isObtainableWithoutBytes(_ key: ResultKey) -> Bool {
        needsNoWorker(key) || key.decodeKeys.allSatisfy { isDecoded($0) }
    }

    /// Whether the result is cached, even if a source is stale, or is being rendered for other callers.
    func needsNoWorker(_ key: ResultKey) -> Bool { caches.hasResult(key) || renders.contains(key) }

    func isDecoded(_ key: DecodeKey, imagesInUse: ImagesInUse? = nil) -> Bool {
        caches.hasPixels(key) || decodes.contains(key) || imagesInUse?.contains(key) == true
    }

    func sourcesNeedingBytes(for key: ResultKey) -> PerSource<Bool> {
        let isThere = needsNoWorker(key)
        return key.decodeKeys.mapValues { !isThere && !isDecoded($0) }
    }

    func cost(of key: ResultKey, from sources: PerSource<AvailableSource>, imagesInUse: ImagesInUse? = nil) -> WorkCost
    {
        let keys = key.decodeKeys
        return WorkCost(of: key, sources) { index in
            if isDecoded(keys[index], imagesInUse: imagesInUse) { return nil }
            return (sources[index].bytes ?? caches.bytes(of: sources[index].record))?.count ?? 0
        }
    }
}

extension WorkCost {
    /// - Parameter fileByteCount: Returns the size of a source's file, 0 if unknown; nil if it need not be decoded.
    init(of key: ResultKey, _ sources: PerSource<AvailableSource>, decoding fileByteCount: (_ index: Int) -> Int?) {
        let decodes = key.decodeKeys.mapWithIndex { index, decode in
            fileByteCount(index).map { decode.timeCost(of: sources[index].record.header, fileByteCount: $0) } ?? .zero
        }
        self.init(decodes: decodes, render: key.plan.timeCost(of: sources.image.record.header))
    }
}
