import CJPEGReference
import Coordination
import Imaging
import Memory
import TestSupport
import Testing

@testable import Recipes

/// The fast JPEG decoder compared with libjpeg and a simple reference.
@Suite(.timeLimit(.minutes(2)))
struct FastJPEGTests {
    /// Sampling factors of luma; chroma has 1×1.
    private static let samplings = [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (4, 2)]
    private static let sizes = [(16 * 8, 16 * 8), (129, 131), (257, 143), (640, 135), (191, 250)]

    @Test(arguments: samplings, [2, 4, 8])
    func `images of all samplings, sizes, qualities and tables are the same`(sampling: (Int, Int), level: Int) throws {
        var seed: UInt32 = 1
        for size in Self.sizes {
            for (quality, noise) in [(100, 255), (90, 40), (75, 8), (20, 90), (3, 255)] {
                for isOptimized in [false, true] {
                    seed += 1
                    try expectSamples(
                        ReferenceJPEG(
                            size, sampling: [sampling, (1, 1), (1, 1)], quality: quality, noise: noise,
                            isOptimized: isOptimized, seed: seed), level)
                }
            }
        }
    }

    @Test(arguments: [1, 2, 3, 7, 100], [2, 4, 8])
    func `images with restart markers are the same`(interval: Int, level: Int) throws {
        for isProgressive in [false, true] {
            for sampling in [(1, 1), (2, 2)] {
                try expectSamples(
                    ReferenceJPEG(
                        (257, 143), sampling: [sampling, (1, 1), (1, 1)], restartInterval: interval,
                        isProgressive: isProgressive), level)
            }
        }
    }

    @Test(arguments: [(1, 1), (2, 2), (3, 1)], [2, 4, 8])
    func `gray images are the same, whatever their sampling factors`(sampling: (Int, Int), level: Int) throws {
        for isProgressive in [false, true] {
            try expectSamples(
                ReferenceJPEG((203, 155), sampling: [sampling], noise: 60, isProgressive: isProgressive), level)
        }
    }

    @Test(arguments: samplings, [2, 4, 8])
    func `progressive images are the same`(sampling: (Int, Int), level: Int) throws {
        for size in Self.sizes {
            for (quality, noise) in [(100, 255), (85, 30), (10, 120)] {
                try expectSamples(
                    ReferenceJPEG(
                        size, sampling: [sampling, (1, 1), (1, 1)], quality: quality, noise: noise, isProgressive: true),
                    level)
            }
        }
    }

    @Test(arguments: [2, 4, 8])
    func `scans that add bits are read with all that they add to`(level: Int) throws {
        try expectSamples(
            ReferenceJPEG((203, 155), noise: 90, isProgressive: true, oddity: \.has_coarse_scans), level)
    }

    @Test func `libjpeg reads scans with all that later scans add to`() throws {
        let image = ReferenceJPEG(
            (203, 155), quality: 30, noise: 255, isProgressive: true, oddity: \.has_coarse_scans)
        // The transforms differ, but the bits are the same: the mean difference is 1.3, and 5.1 if bits are misread.
        let fast = try image.decode(level: 4).samples[0]
        let slow = try image.decode(level: 4, by: .libjpeg).samples[0]
        let differences = zip(fast, slow).map { abs(Int($0) - Int($1)) }
        #expect(differences.reduce(0, +) < 3 * differences.count)
    }

    @Test func `a large image is read in several pieces`() throws {
        for isProgressive in [false, true] {
            let image = ReferenceJPEG(
                (1_200, 900), sampling: [(2, 2), (1, 1), (1, 1)], quality: 98, noise: 255, isProgressive: isProgressive)
            #expect(image.file.count > 8 * 32_768)
            for level in [2, 4, 8] { try expectSamples(image, level) }
        }
    }

    @Test(arguments: samplings, [[1, 2, 4, 8], [1, 4], [2, 4, 8], [2, 8], [4, 8]])
    func `coarser levels in the same pass are the same as apart`(sampling: (Int, Int), levels: [Int]) throws {
        for size in Self.sizes {
            for interval in [0, 3] {
                for components in [[sampling], [sampling, (1, 1), (1, 1)]] {
                    let image = ReferenceJPEG(size, sampling: components, noise: 90, restartInterval: interval)
                    let all = try image.decode(level: levels[0], coarser: Array(levels.dropFirst()))
                    #expect(all.coarser.count == levels.count - 1, "\(image)")
                    for (level, found) in zip(levels, [all] + all.coarser) {
                        let apart = try image.decode(level: level)
                        #expect(found.samples == apart.samples, "\(image), level \(level)")
                        #expect(found.description.planes == apart.description.planes)
                    }
                }
            }
        }
    }

    @Test(arguments: 1...8)
    func `coarser levels in the same pass are turned upright`(orientation: Int) throws {
        let image = ReferenceJPEG(JPEGWriter.oriented(ReferenceJPEG((203, 155)).file.array, orientation))
        for (level, found) in zip([2, 4, 8], try image.decode(level: 1, coarser: [2, 4, 8]).coarser) {
            let apart = try image.decode(level: level)
            #expect(found.size == apart.size && found.samples == apart.samples)
        }
    }

    @Test func `a truncated or progressive image has no coarser levels in the same pass`() throws {
        let whole = ReferenceJPEG((203, 155), noise: 90)
        for image in [
            ReferenceJPEG(whole.file.array.prefix(whole.file.count * 2 / 3)),
            ReferenceJPEG((203, 155), isProgressive: true),
        ] {
            for level in [1, 2] {
                let found = try image.decode(level: level, coarser: [4, 8])
                let alone = try image.decode(level: level)
                #expect(found.coarser.isEmpty && found.samples == alone.samples)
            }
        }
    }

    @Test func `the full size is decoded by libjpeg without a log line`() throws {
        let image = ReferenceJPEG((160, 120))
        #expect(try image.decode(level: 1).jpegDecoding == nil)
    }

    @Test func `a comparison can make libjpeg decode everything`() throws {
        let image = ReferenceJPEG((160, 120))
        #expect(try image.decode(level: 4, by: .libjpeg).jpegDecoding == nil)
    }

    @Test func `a stop ends a running decode`() throws {
        for isProgressive in [false, true] {
            let image = ReferenceJPEG((320, 240), isProgressive: isProgressive)
            let token = WorkToken()
            #expect(throws: CancellationError.self) {
                // Memory is reserved after the header is read.
                try image.decode(level: 8, token: token) { token.cancel() }
            }
        }
    }

    /// Requires that the fast decoder accepts the image and returns the right samples.
    private func expectSamples(
        _ image: ReferenceJPEG, _ level: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let fast = try image.decode(level: level)
        #expect(fast.jpegDecoding == .fast, "\(image)", sourceLocation: sourceLocation)
        let expected: [[UInt8]]
        if level == 8 {
            expected = try image.decode(level: level, by: .libjpeg).samples
        } else {
            expected = image.referenceSamples(of: fast, level: level)
        }
        #expect(fast.samples == expected, "\(image), level \(level)", sourceLocation: sourceLocation)
    }
}
