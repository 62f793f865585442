import Coordination
import Imaging
import Memory
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PlanarAVIFTests {
    @Test(arguments: [60, 95])
    func `the file says that its planes are full-range BT.601 of sRGB`(quality: Int) throws {
        let file = try avif(of: ImageFixture.photo(width: 203, height: 155), quality: quality)
        #expect(try ImageHeader.inspect(file).size == PixelSize(width: 101, height: 77))
        // The box of the colours' meaning: primaries 1, curve 13, matrix 6, and the bit of full range.
        let meaning = Array("colrnclx".utf8) + [0, 1, 0, 13, 0, 6, 0x80]
        #expect(file.array.contains(meaning))
    }

    @Test func `planes and pixels make the same picture`() async {
        // In a process of its own, for reading AVIF stays on.
        await #expect(processExitsWith: .success) {
            try ImageLibrary.start(reading: [.avif])
            for (width, height) in [(320, 240), (203, 155)] {
                for target in [40, 101, 150] {
                    for quality in [60, 95] {
                        var options = RenderingOptions()
                        (options.width, options.quality) = (target, quality)
                        let comparison = try LaneComparison(
                            ImageFixture.photo(width: width, height: height), options, .avif)
                        let distance = comparison.noiseDistance
                        #expect(distance > (quality == 95 ? 38 : 30), "\(width) \(target) \(quality): \(distance)")
                    }
                }
            }
            let grey = SharedBytes(ImageFixture.file(.greyRamp(PixelSize(width: 200, height: 100)), as: .jpeg))
            var options = RenderingOptions()
            options.width = 100
            #expect(try LaneComparison(grey, options, .avif).noiseDistance > 36)
        }
    }

    @Test func `the same planes make the same file`() throws {
        let photo = ImageFixture.photo(width: 203, height: 155)
        #expect(try avif(of: photo, quality: 60).array == avif(of: photo, quality: 60).array)
    }

    private func avif(of file: SharedBytes, quality: Int) throws -> SharedBytes {
        var options = RenderingOptions()
        (options.width, options.quality) = (101, quality)
        return try thumbnail(file, options, .avif).bytes
    }
}

extension [UInt8] {
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: part) }
    }
}
