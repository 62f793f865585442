import Glibc
import Memory

/// Finds the quality of a result by encoding the same finished image several times.
///
/// What is found depends on the image and the goal alone.
struct QualitySearch {
    private var trials: any EncodingTrials

    /// A search with these trials.
    init(_ trials: any EncodingTrials) {
        self.trials = trials
    }

    /// The result of `plan`, whose steps are done.
    ///
    /// - Throws: The errors of the encoder.
    consuming func result(_ plan: RenderPlan) throws -> EncodedImage {
        let (file, quality): (SharedBytes, Int) =
            switch plan.quality {
            case .fixed(let quality): (try trials.file(quality: quality), quality)
            case .fitting(let bytes, let highest): try file(fitting: bytes, highest: highest)
            case .similar(let goal): try file(similar: goal)
            }
        return EncodedImage(
            bytes: file, format: plan.format, size: plan.outputSize, quality: plan.quality.isSearched ? quality : nil)
    }

    /// Bisects: `low` fits and `high` does not, until they are neighbours. The highest quality is tried first.
    private func file(fitting bytes: Int, highest: Int) throws -> (SharedBytes, Int) {
        var (low, high, quality) = (0, highest + 1, highest)
        var best: SharedBytes?
        while true {
            let file = try trials.file(quality: quality)
            if file.count <= bytes { (low, best) = (quality, file) } else { high = quality }
            if high - low == 1 {
                // If nothing fits, the last file is that of quality 1.
                return (best ?? file, max(1, low))
            }
            quality = (low + high) / 2
        }
    }

    /// Narrows the range between a quality that is not similar enough and one that is, guessing by the similarities that were measured.
    private mutating func file(similar goal: SimilarityGoal) throws -> (SharedBytes, Int) {
        var low: Measure?
        var high: Measure?
        for _ in 0..<SimilarityGoal.mostTries {
            let (after, before) = (low?.quality ?? goal.lowest - 1, high?.quality ?? goal.highest)
            guard before - after > 1 else { break }
            let guess = Measure.guess(for: Double(10_000 - goal.least), between: low, and: high)
            let quality = min(max(guess ?? (after + before) / 2, after + 1), before - 1)
            let similarity = try trials.similarity(quality: quality)
            let measure = Measure(quality: quality, lack: 10_000 - similarity)
            if similarity >= Double(goal.least) { high = measure } else { low = measure }
        }
        let quality = high?.quality ?? goal.highest
        return (try trials.file(quality: quality), quality)
    }
}

/// What a file of some quality lacks to the image.
private struct Measure {
    let quality: Int
    /// 10000 minus the similarity in ten-thousandths.
    let lack: Double

    /// The lowest quality that is expected to lack `lack` at most; nil if nothing is known.
    ///
    /// What files lack changes by about the same factor from each quality to the next.
    static func guess(for lack: Double, between low: Measure?, and high: Measure?) -> Int? {
        func logarithm(_ lack: Double) -> Double { log(max(lack, 0.01)) }
        switch (low, high) {
        case (let low?, let high?):
            let (from, to) = (logarithm(low.lack), logarithm(high.lack))
            guard from > to else { return nil }
            let part = (from - logarithm(lack)) / (from - to)
            return low.quality + Int((part * Double(high.quality - low.quality)).rounded(.up))
        case (let known?, nil), (nil, let known?):
            return known.quality + Int(((logarithm(known.lack) - logarithm(lack)) / usualSlope).rounded(.up))
        case (nil, nil): return nil
        }
    }

    /// The usual decrease of the logarithm from one quality to the next.
    private static let usualSlope = 0.05
}
