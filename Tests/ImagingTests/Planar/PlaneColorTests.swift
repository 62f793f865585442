import Coordination
import Memory
import Testing

@testable import Imaging
@testable import Recipes

/// Conversion of plane samples to RGB.
struct PlaneColorTests {
    @Test func `luma beyond black or white keeps its chroma's effect`() throws {
        // BT.601: 1.164 · (4 - 16) + 1.596 · (200 - 128); the others are below black.
        #expect(try pixel([4, 128, 200], .limited) == [101, 0, 0])
        // 1.164 · (250 - 16) - 0.392 · (200 - 128) - 0.813 · (128 - 128); the others are beyond white.
        #expect(try pixel([250, 200, 128], .limited) == [255, 244, 255])
        #expect(try pixel([16, 128, 128], .limited) == [0, 0, 0])
        #expect(try pixel([235, 128, 128], .limited) == [255, 255, 255])
    }

    @Test func `full range matches JPEG`() throws {
        #expect(try pixel([76, 85, 255], .full) == [254, 0, 0])
        #expect(try pixel([4, 128, 128], .full) == [4, 4, 4])
        #expect(try pixel([77], .full) == [77])
        #expect(try pixel([235], .limited) == [255])
    }

    /// The color of a plain image with these samples.
    private func pixel(_ samples: [UInt8], _ range: PlaneRange) throws -> [UInt8] {
        let size = PixelSize(width: 32, height: 32)
        let planes = [Plane].stacked([PixelSize](repeating: size, count: samples.count))
        let memory = try PlaneMemory(count: planes.byteCount)
        for (plane, sample) in zip(planes, samples) { memory.fill(plane, with: sample) }
        let image = DecodedImage(pixels: memory.finish(), planes: planes, range: range, profile: nil)
        return try image.interleavedInSRGB(token: WorkToken()).pixel(x: 9, y: 9)
    }
}
