import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import ImageSandbox

/// Only the previews of RAW photographs are sent to worker processes.
@Suite(.timeLimit(.minutes(2)))
struct SandboxedPreviewTests {
    @Test(arguments: [1, 6])
    func `a worker process decodes a preview as this process does`(orientation: Int) throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        // This width needs no row padding, which would vary.
        let preview = ImageFixture.file(.photo(PixelSize(width: 1_024, height: 512)), as: .jpeg)
        var writer = RAWWriter(.arw, preview)
        (writer.orientation, writer.isAdobeRGB, writer.gap) = (orientation, true, 3_000_000)
        let file = SharedBytes(writer.file)
        for level in [1, 4] {
            let plan = DecodePlan(level: level)
            let here = try InProcessCodec().decode(file, plan: plan)
            let there = try fixture.decode(file, plan: plan)
            #expect(there.size == here.size && there.pixels.array == here.pixels.array)
            #expect(there.description == here.description && here.description.profile != nil)
        }
        #expect(fixture.ends(.protocolError) == 0)
    }
}
