import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Simulated trials with computed sizes and similarities; counts the trials.
private final class FakeTrials: EncodingTrials {
    var encoded: [Int] = []
    var compared: [Int] = []
    private let bytes: (Int) -> Int
    private let likeness: (Int) -> Double

    init(bytes: @escaping (Int) -> Int = { $0 }, likeness: @escaping (Int) -> Double = { _ in 0 }) {
        (self.bytes, self.likeness) = (bytes, likeness)
    }

    func file(quality: Int) -> SharedBytes {
        encoded.append(quality)
        return SharedBytes([UInt8](repeating: 0, count: bytes(quality)))
    }

    func similarity(quality: Int) -> Double {
        compared.append(quality)
        return likeness(quality)
    }

    func result(_ quality: EncodingQuality) throws -> EncodedImage {
        var plan = RenderPlan(resizedSize: PixelSize(width: 1, height: 1), format: .jpeg, quality: 80)
        plan.quality = quality
        return try QualitySearch(self, for: plan).result()
    }
}

struct QualitySearchTests {
    @Test(arguments: [1, 2, 47, 80, 99, 100])
    func `the highest quality that fits is found in eight encodes at most`(highest: Int) throws {
        for bytes in 0...101 {
            let trials = FakeTrials()
            let result = try trials.result(.fitting(bytes: bytes, highest: highest))
            let expected = max(1, min(bytes, highest))
            #expect(result.quality == expected && result.bytes.count == expected)
            #expect(trials.encoded.count <= 8 && trials.encoded[0] == highest)
        }
    }

    @Test func `a limit on the quality precedes one on the bytes`() throws {
        for (bytes, quality) in [(0, 5), (4, 5), (5, 5), (6, 6), (90, 80)] {
            let result = try FakeTrials().result(.fitting(bytes: bytes, highest: 80, lowest: 5))
            #expect(result.quality == quality)
        }
        #expect(try FakeTrials().result(.fitting(bytes: 0, highest: 3, lowest: 5)).quality == 3)
    }

    @Test func `sizes that do not rise with quality still give a file that fits beside one that does not`() throws {
        for seed in 0..<200 {
            func size(_ quality: Int) -> Int { (quality * 7_919 + seed * 104_729) % 300 }
            let trials = FakeTrials(bytes: size)
            let result = try trials.result(.fitting(bytes: 100, highest: 90))
            let quality = try #require(result.quality)
            #expect(result.bytes.count == size(quality))
            if size(quality) <= 100 {
                #expect(quality == 90 || size(quality + 1) > 100)
            } else {
                #expect(quality == 1)
            }
        }
    }

    @Test(arguments: [0.02, 0.05, 0.1])
    func `the lowest quality that is similar enough is found in six encodes at most`(slope: Double) throws {
        for wanted in 40...90 {
            // The loss shrinks by a constant factor per quality, and is just small enough at `wanted`.
            let trials = FakeTrials(likeness: { quality in
                var lack = 199.9
                for _ in 0..<abs(quality - wanted) { lack *= quality > wanted ? 1 - slope : 1 + slope }
                return 10_000 - lack
            })
            let result = try trials.result(.similar(SimilarityGoal()))
            #expect(result.quality == wanted)
            #expect(trials.compared.count + trials.encoded.count <= 6)
            #expect(trials.encoded == [wanted])
        }
    }

    @Test func `an automatic quality respects its bounds`() throws {
        var goal = SimilarityGoal()
        (goal.lowest, goal.highest) = (55, 60)
        #expect(try FakeTrials(likeness: { _ in 10_000 }).result(.similar(goal)).quality == 55)
        #expect(try FakeTrials(likeness: { _ in 0 }).result(.similar(goal)).quality == 60)
        goal.highest = 55
        #expect(try FakeTrials(likeness: { _ in 0 }).result(.similar(goal)).quality == 55)
    }

    @Test func `a fixed quality is not reported`() throws {
        let trials = FakeTrials()
        #expect(try trials.result(.fixed(7)).quality == nil)
        #expect(trials.encoded == [7] && trials.compared.isEmpty)
    }
}

/// Searches with real encoders, in both lanes.
struct SearchedFileTests {
    static let photo = ImageFixture.photo(width: 203, height: 155)
    static let pixels = SharedBytes(
        ImageFixture.file(.photoWithAlpha(PixelSize(width: 203, height: 155)), as: .png))
    static let cases: [(SharedBytes, ImageFormat)] = [photo, pixels].flatMap { file in
        [ImageFormat.jpeg, .webp, .avif].map { (file, $0) }
    }

    private func made(
        _ file: SharedBytes, _ format: ImageFormat, _ change: (inout RenderingOptions) -> Void
    ) throws -> EncodedImage {
        var options = RenderingOptions()
        options.width = 101
        change(&options)
        return try thumbnail(file, options, format)
    }

    @Test(arguments: cases)
    func `a file with a size limit is that of its quality`(file: SharedBytes, format: ImageFormat) throws {
        // Up to 95, some qualities subsample chroma and others do not.
        for highest in [60, 95] {
            let maximum = try made(file, format) { $0.quality = highest }.bytes.count
            for bytes in [maximum, maximum * 9 / 10, maximum / 2] {
                let found = try made(file, format) { ($0.quality, $0.maximumBytes) = (highest, bytes) }
                let quality = try #require(found.quality)
                #expect(1...highest ~= quality && (found.bytes.count <= bytes || quality == 1))
                #expect(try made(file, format) { $0.quality = quality }.bytes.array == found.bytes.array)
                if quality < highest {
                    #expect(try made(file, format) { $0.quality = quality + 1 }.bytes.count > bytes)
                }
            }
        }
        let minimum = try made(file, format) { $0.maximumBytes = 1 }
        #expect(minimum.quality == 1)
        #expect(try made(file, format) { $0.quality = 1 }.bytes.array == minimum.bytes.array)
    }

    @Test(arguments: cases)
    func `an automatic file matches that of its quality, and a stricter goal costs bytes`(
        file: SharedBytes, format: ImageFormat
    ) throws {
        let found = try made(file, format) { $0.isQualityAutomatic = true }
        let quality = try #require(found.quality)
        #expect(40...90 ~= quality)
        #expect(try made(file, format) { $0.quality = quality }.bytes.array == found.bytes.array)
        var options = RenderingOptions()
        (options.width, options.isQualityAutomatic) = (101, true)
        var last = 0
        for minimum in [0, 9_000, 9_900, 10_000] {
            var goal = SimilarityGoal()
            (goal.minimum, goal.lowest, goal.highest) = (minimum, 5, 95)
            let quality = try #require(try thumbnail(file, options, format, similarity: goal).quality)
            #expect(quality >= last)
            last = quality
        }
        #expect(last == 95)
    }

    /// Red strokes on blue of the same luma, which luma alone cannot distinguish; PNG, and JPEG with full chroma.
    static let boards: [(SharedBytes, ImageFormat)] = {
        let board = SampleImage(PixelSize(width: 240, height: 160), bands: 3) { x, y in
            (x + y / 8 * 5) % 11 < 3 && y % 8 < 6 ? [200, 40, 40] : [60, 70, 255]
        }
        let files = [
            ImageFixture.file(board, as: .png), ImageFixture.file(board, as: .jpeg, quality: 97),
        ].map { SharedBytes($0) }
        return files.flatMap { file in [ImageFormat.jpeg, .webp, .avif].map { (file, $0) } }
    }()

    @Test(arguments: boards)
    func `an automatic file of a board of strong colors preserves them`(file: SharedBytes, format: ImageFormat) throws {
        func board(_ change: (inout RenderingOptions) -> Void) throws -> (quality: Int?, distance: Double) {
            let result = try made(file, format) {
                $0.width = 240
                change(&$0)
            }
            let shown = try ImageReading.decode(result.bytes).pixels.array
            let source = try ImageReading.decode(file).pixels.array
            return (result.quality, zip(shown, source).reduce(0) { $0 + abs(Double($1.0) - Double($1.1)) })
        }
        let found = try board { $0.isQualityAutomatic = true }
        let coarse = try board { $0.quality = SimilarityGoal().lowest }
        let quality = try #require(found.quality)
        // WebP subsamples chroma at any quality.
        let isBest = quality == SimilarityGoal().highest
        #expect(quality >= 70 && (isBest || found.distance < 0.8 * coarse.distance), "\(found), \(coarse)")
    }

    @Test func `all frames of an animation share the size limit`() throws {
        let animation = ImageFixture.gifAnimated.bytes
        func made(_ change: (inout RenderingOptions) -> Void) throws -> EncodedImage {
            var options = RenderingOptions()
            options.isAnimated = true
            change(&options)
            return try thumbnail(animation, options, .webp)
        }
        let maximum = try made { $0.quality = 100 }.bytes.count
        let found = try made { ($0.quality, $0.maximumBytes) = (100, maximum - 1) }
        let quality = try #require(found.quality)
        #expect(found.bytes.count < maximum && quality < 100)
        #expect(try made { $0.quality = quality }.bytes.array == found.bytes.array)
        #expect(try ImageHeader.inspect(found.bytes).frames > 1)
        let automatic = try made { $0.isQualityAutomatic = true }
        let chosen = try #require(automatic.quality)
        #expect(try made { $0.quality = chosen }.bytes.array == automatic.bytes.array)
    }

    @Test func `equal planes are similar, and coarser files are less so`() throws {
        func luma(_ quality: Int) throws -> ComparedPlanes {
            let file = try made(Self.photo, .jpeg) { $0.quality = quality }.bytes
            let image = try ImageDecoder.decode(
                file, header: .inspect(file), plan: DecodePlan(), limits: .none, token: WorkToken())
            return try ComparedPlanes(lumaOf: image, token: WorkToken())
        }
        let best = try luma(100)
        #expect(best.similarity(to: best) == 10_000)
        let similarities = try [5, 20, 50, 80, 95].map { try luma($0).similarity(to: best) }
        #expect(similarities == similarities.sorted() && similarities[0] < 9_500 && similarities[4] < 10_000)
    }
}
