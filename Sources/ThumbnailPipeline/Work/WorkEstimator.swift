import Coordination
import Imaging
import Memory
import Recipes
import ThumbnailTypes

struct WorkEstimator: Sendable {
    let caches: CacheLayers
    let decodes: SharedTasks<DecodeKey, DecodedImage>
    let costs: DecodeCosts
    let renders = SharedTasks<ResultKey, RenderedImage>()

    func isObtainableWithoutBytes(_ key: ResultKey) -> Bool {
        needsNoWorker(key) || key.decodeKeys.allSatisfy { isDecoded($0) }
    }

    /// Whether the result is cached (even for stale sources) or being rendered for another caller.
    func needsNoWorker(_ key: ResultKey) -> Bool { caches.hasResult(key) || renders.contains(key) }

    func isDecoded(_ key: DecodeKey, imagesInUse: ImagesInUse? = nil) -> Bool {
        caches.hasPixels(key) || decodes.contains(key) || imagesInUse?.contains(key) == true
    }

    func sourcesNeedingBytes(for key: ResultKey) -> PerSource<Bool> {
        let isAvailable = needsNoWorker(key)
        return key.decodeKeys.mapValues { !isAvailable && !isDecoded($0) }
    }

    func cost(of key: ResultKey, from records: PerSource<SourceRecord>, imagesInUse: ImagesInUse? = nil) -> WorkCost {
        cost(of: key, from: records) { isDecoded($0, imagesInUse: imagesInUse) }
    }

    func cost(of key: ResultKey, from records: PerSource<SourceRecord>, isDecoded: (DecodeKey) -> Bool) -> WorkCost {
        WorkCost(
            decodes: key.decodeKeys.mapWithIndex { index, decode in
                isDecoded(decode) ? .zero : costs.cost(of: decode, from: records[index])
            },
            render: key.plan.timeCost(of: records.main.header))
    }
}
