import Coordination
import Imaging
import Recipes
import TestSupport
import Testing

/// Runs in a separate process, because a failure would crash it.
struct ParallelRenderingTests {
    @Test func `many threads resizing at once do not race in libvips' machine code`() async {
        await #expect(processExitsWith: .success) {
            try ImageLibrary.start()
            let bytes = ImageFixture.photo(width: 40, height: 30)
            let header = try ImageHeader.inspect(bytes)
            let image = try ImageDecoder.decode(
                bytes, header: header, plan: DecodePlan(), limits: ImagingLimits(), token: WorkToken(),
                lane: .vips)
            let pool = WorkerPool(count: 4, maximumQueued: 10, name: "resize") { ImageLibrary.endThread() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for thread in 0..<4 {
                    group.addTask {
                        try await pool.run { token in
                            for round in 0..<1_500 {
                                let result = PixelSize(width: 8 + (round * 7 + thread) % 30, height: 6 + round % 22)
                                let plan = RenderPlan(resizedSize: result, format: .jpeg, quality: 80)
                                let rendered = try ImageRenderer.render(image, plan: plan, token: token)
                                precondition(rendered.size == result)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
