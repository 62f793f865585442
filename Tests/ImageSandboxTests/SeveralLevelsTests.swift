import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import ImageSandbox

/// Decodes of an image at several levels in one pass.
@Suite(.timeLimit(.minutes(2)))
struct SeveralLevelsTests {
    @Test func `several levels come from one decode, from small and from large memory`() async throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        // These widths need no row padding, which would vary.
        for size in [PixelSize(width: 1_024, height: 512), PixelSize(width: 2_048, height: 1_536)] {
            let file = SharedBytes(ImageFixture.file(.texture(size), as: .jpeg))
            let image = try fixture.decode(file, plan: DecodePlan(level: 1).with(coarserLevels: [2, 8]))
            for (level, found) in zip([1, 2, 8], [image] + image.coarser) {
                let apart = try fixture.decode(file, plan: DecodePlan(level: level))
                #expect(found.size == apart.size && found.pixels.array == apart.pixels.array)
            }
            #expect(image.coarser.count == 2)
        }
        // Levels that the format cannot decode together are omitted.
        let whole = ImageFixture.photo(width: 640, height: 480, format: .png)
        #expect(try fixture.decode(whole, plan: DecodePlan(level: 1).with(coarserLevels: [2])).coarser.isEmpty)
        #expect(fixture.ends(.protocolError) == 0)
    }

    @Test func `coarser levels that the plan or the memory does not hold are rejected`() throws {
        let file = ImageFixture.jpeg.bytes
        let header = try ImageHeader.inspect(file)
        let plan = DecodePlan(level: 1).with(coarserLevels: [2])
        func description(_ level: Int) -> DecodedDescription {
            DecodedDescription(size: ImageFixture.size.reduced(by: level), bands: 3)
        }
        let whole = 64 * 48 * 3
        for (coarser, count) in [
            ([description(2)], whole), ([description(2), description(4)], 2 * whole), ([description(8)], 2 * whole),
        ] {
            let claim = WorkerResponse.ClaimedImage(
                description: description(1), pixelCount: count, delayCount: 0, profileCount: 0, coarser: coarser)
            var output = try OutputMemory(ReusableMemory("test", isWritable: false), capacity: 2 * whole)
            #expect(throws: ImagingError.self) { try claim.image(in: &output, of: header, by: plan) }
        }
    }
}
