import Glibc
import Memory
import Recipes

/// Encodes the same image at several qualities; the result depends only on the image and the goal.
struct QualitySearch {
    private var trials: any EncodingTrials
    private let plan: RenderPlan
    private var gainMap: GainMapState

    private enum GainMapState {
        /// The map is made for the first file whose size counts, or for the only file.
        case pending(GainMapMaker)
        case encoded(EncodedGainMap?)
    }

    init(_ trials: any EncodingTrials, for plan: RenderPlan, gainMap: @escaping GainMapMaker = { _ in nil }) {
        self.trials = trials
        self.plan = plan
        self.gainMap = .pending(gainMap)
    }

    consuming func result() throws -> EncodedImage {
        let (file, quality): (SharedBytes, Int) =
            switch plan.quality {
            case .fixed(let quality): (try encode(quality: quality), quality)
            case .fitting(let bytes, let highest, let lowest):
                try searchFitting(bytes: bytes, highest: highest, lowest: min(lowest, highest))
            case .similar(let goal): try searchSimilar(goal)
            }
        return EncodedImage(
            bytes: file, format: plan.format, size: plan.outputSize, quality: plan.quality.isSearched ? quality : nil,
            hasGainMap: hasGainMap)
    }

    private var hasGainMap: Bool { if case .encoded(_?) = gainMap { true } else { false } }

    private mutating func encode(quality: Int) throws -> SharedBytes {
        let file = try trials.file(quality: quality)
        let map =
            switch gainMap {
            case .pending(let make): try make(file)
            case .encoded(let map): map
            }
        gainMap = .encoded(map)
        return plan.addingMetadata(to: file, gainMap: map)
    }

    /// Returns the file of the highest quality that fits.
    ///
    /// Tries the highest quality, then bisects: `low` fits and `high` does not, until they are adjacent.
    private mutating func searchFitting(bytes: Int, highest: Int, lowest: Int) throws -> (SharedBytes, Int) {
        var low = lowest - 1
        var high = highest + 1
        var quality = highest
        var best: SharedBytes?
        while true {
            let file = try encode(quality: quality)
            if file.count <= bytes {
                low = quality
                best = file
            } else {
                high = quality
            }
            if high - low == 1 {
                // If none fits, the last file has the lowest quality.
                return (best ?? file, max(lowest, low))
            }
            quality = (low + high) / 2
        }
    }

    /// Narrows the range between a quality that is similar enough and one that is not, by measured similarities.
    private mutating func searchSimilar(_ goal: SimilarityGoal) throws -> (SharedBytes, Int) {
        var low: Measurement?
        var high: Measurement?
        var last: Measurement?
        for _ in 0..<SimilarityGoal.maximumTries {
            let after = low?.quality ?? goal.lowest - 1
            let before = high?.quality ?? goal.highest
            guard before - after > 1 else { break }
            let nearest = high ?? low
            let other = high == nil || low == nil ? last : low
            let guess = nearest?.guess(for: Double(10_000 - goal.minimum), with: other)
            let quality = min(max(guess ?? (after + before) / 2, after + 1), before - 1)
            let similarity = try trials.similarity(quality: quality)
            let measurement = Measurement(quality: quality, loss: 10_000 - similarity)
            last = nearest
            if similarity >= Double(goal.minimum) { high = measurement } else { low = measurement }
        }
        let quality = high?.quality ?? goal.highest
        return (try encode(quality: quality), quality)
    }
}

private struct Measurement {
    let quality: Int
    let loss: Double

    /// Estimates the quality for a goal; nil if the measurements contradict each other.
    ///
    /// Assumes that the loss changes by the same factor from each quality to the next: the one between this measurement
    /// and `other`, or else the usual one.
    func guess(for loss: Double, with other: Measurement?) -> Int? {
        var slope = Self.defaultSlope
        if let other, other.quality != quality {
            slope = (logarithm - other.logarithm) / Double(other.quality - quality)
            guard slope > 0 else { return nil }
        }
        let distance = (logarithm - log(max(loss, Self.minimum))) / slope
        return quality + Int(max(-100, min(100, distance.rounded(.up))))
    }

    private var logarithm: Double { log(max(loss, Self.minimum)) }

    private static let defaultSlope = 0.05
    /// The minimum loss, because zero has no logarithm.
    private static let minimum = 0.01
}
