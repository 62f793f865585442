import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DeterminismTests {
    @Test(arguments: ImageFormat.written)
    func `the same source and plan make the same bytes on every thread`(format: ImageFormat) async throws {
        let source = ImageFixture.photo(width: 320, height: 240)
        var options = RenderingOptions()
        (options.width, options.height, options.fit, options.gravity) = (90, 90, .cover, .attention)
        let wishes = options
        let expected = try thumbnail(source, wishes, format).bytes.array
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<6 { group.addTask { try thumbnail(source, wishes, format).bytes.array } }
            for try await bytes in group { #expect(bytes == expected) }
        }
    }

    @Test func `pixels retained only by a render stay valid during it`() async throws {
        let source = ImageFixture.photo(width: 320, height: 240)
        let plan = RenderPlan(resizedSize: PixelSize(width: 80, height: 60), format: .png, quality: 100)
        let kept = try ImageReading.decode(source)
        let expected = try ImageRenderer.render(kept, plan: plan, token: WorkToken()).bytes.array
        // Each call renders pixels that only the call itself still references.
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try ImageRenderer.render(ImageReading.decode(source), plan: plan, token: WorkToken()).bytes.array
                }
            }
            for try await bytes in group { #expect(bytes == expected) }
        }
    }

    @Test func `a canceled render reports its cancellation`() throws {
        let image = try ImageReading.decode(ImageFixture.jpeg.bytes)
        let plan = RenderPlan(resizedSize: PixelSize(width: 8, height: 6), format: .png, quality: 100)
        let token = WorkToken()
        token.cancel()
        #expect(throws: CancellationError.self) { try ImageRenderer.render(image, plan: plan, token: token) }
    }
}
