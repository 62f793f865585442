import Coordination
import Glibc
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// The cost of a render that has run out of time, in CPU time of the process, which is independent of other load.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct RenderDeadlineTests {
    /// An enlargement that takes a large fraction of a second.
    private static let size = PixelSize(width: 3_000, height: 3_000)

    @Test(arguments: [
        (ImageFormat.jpeg, ImageFormat.jpeg), (.jpeg, .webp), (.jpeg, .png), (.png, .jpeg), (.png, .webp), (.png, .png),
    ])
    func `a render past its deadline stops midway`(source: ImageFormat, format: ImageFormat) async throws {
        try ImageLibrary.start()
        let file = ImageFixture.photo(width: 500, height: 500, format: source)
        let image = try ImageDecoder.decode(
            file, header: .inspect(file), plan: DecodePlan(), limits: ImagingLimits(), token: WorkToken())
        let plan = RenderPlan(decode: DecodePlan(), resizedSize: Self.size, format: format, quality: 80)
        let pool = WorkerPool(count: 1, maximumQueued: 1, name: "test")
        defer { pool.shutDown() }
        let whole = try await pool.run { token in
            let start = Self.processorTime
            let result = try ImageRenderer.render(image, plan: plan, token: token)
            #expect(result.size == Self.size)
            return Self.processorTime - start
        }
        let used = Locked(Duration.zero)
        await #expect(throws: DeadlineExceeded.self) {
            try await pool.run(timeLimit: whole / 20) { token in
                let start = Self.processorTime
                defer { used.withLock { $0 = Self.processorTime - start } }
                _ = try ImageRenderer.render(image, plan: plan, token: token)
            }
        }
        // The pool has one thread, so this job runs after the render.
        let stopped = try await pool.run { _ in used.withLock { $0 } }
        #expect(stopped > .zero && stopped < whole / 2, "\(stopped) of \(whole)")
    }

    /// CPU time of all threads, including libvips'.
    private static var processorTime: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
