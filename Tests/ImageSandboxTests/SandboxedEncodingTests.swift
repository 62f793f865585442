import Coordination
import Glibc
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import ImageSandbox

@Suite(.serialized, .timeLimit(.minutes(5)))
struct SandboxedEncodingTests {
    @Test(
        .unlessSanitized("a thread of the sanitizer opens a file, which kills a worker"),
        arguments: ImageFormat.written.filter(\.isEncodedByWorker))
    func `a worker writes the same file as this process`(format: ImageFormat) throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        // Planes with and without color, pixels with and without alpha, and more bytes than the reusable memory holds.
        let large = PixelSize(width: 1_280, height: 1_280)
        for (file, size) in [
            (ImageFixture.photo(width: 401, height: 303), PixelSize(width: 203, height: 151)),
            (ImageFixture.photo(width: 1_300, height: 1_300), large),
            (ImageFixture.photo(width: 401, height: 303, format: .png), PixelSize(width: 203, height: 151)),
            (ImageFixture.photo(width: 1_280, height: 1_280, format: .png), large),
            (ImageFixture.pngHalfTransparent.bytes, ImageFixture.size),
            (ImageFixture.jpegGrayRamp.bytes, ImageFixture.size),
        ] {
            let image = try InProcessCodec().decode(file)
            for quality in [50, 95] {
                let plan = RenderPlan(decode: DecodePlan(), resizedSize: size, format: format, quality: quality)
                let expected = try ImageRenderer.render(image, plan: plan, token: WorkToken())
                let rendered = try ImageRenderer.render(image, plan: plan, token: WorkToken(), codec: fixture.codec)
                #expect(rendered.bytes.array == expected.bytes.array && rendered.size == expected.size)
                #expect(try ImageHeader.inspect(rendered.bytes).storedSize == size)
            }
        }
        #expect(fixture.endCount == 0)
    }

    @Test(arguments: [(1, 1), (1, 400), (400, 1), (15, 7), (2, 3)])
    func `a worker writes images of few pixels`(width: Int, height: Int) throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        let size = PixelSize(width: width, height: height)
        for bands in 1...4 {
            let pixels = (0..<size.area * bands).map { UInt8(truncatingIfNeeded: $0 * 11) }
            let image = DecodedImage(pixels: SharedBytes(pixels), size: size, bands: bands)
            let file = try fixture.codec.encode(image)
            #expect(try file.array == InProcessCodec().encode(image).array, "\(bands) bands")
        }
    }

    @Test(arguments: 1...4)
    func `a worker writes an animation as this process does`(bands: Int) throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        let size = PixelSize(width: 40, height: 30)
        let pixels = (0..<3 * size.area * bands).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let image = DecodedImage(
            pixels: SharedBytes(pixels), size: size, bands: bands, frames: 3, delays: [40, 70_000, 9], loop: 2)
        for depth in [8, 10] {
            let file = try fixture.codec.encode(image, quality: 60, bitDepth: depth)
            #expect(try file.array == InProcessCodec().encode(image, quality: 60, bitDepth: depth).array)
            let read = try fixture.codec.decode(file, plan: DecodePlan(isAnimated: true))
            #expect(read.frames == 3 && read.delays == image.delays && read.loop == 2 && read.bands == bands)
        }
        #expect(fixture.endCount == 0)
    }

    @Test func `a file larger than the reusable memory is sealed, not copied`() async throws {
        let fixture = try SandboxFixture()
        for _ in 0..<2 {
            let file = try fixture.codec.encode(SandboxFixture.noise, quality: 100)
            #expect(file.count > ReusableMemory.count)
            #expect(try ImageHeader.inspect(file).storedSize == SandboxFixture.noiseSize)
        }
        #expect(fixture.codec.encoders?.processes.count == 1 && fixture.ends(.forbiddenCall) == 0)
    }

    @Test func `encoders never open files, and decoders write none`() async throws {
        let fixture = try SandboxFixture()
        #expect(fixture.codec.encoders == nil)
        let decoders = await fixture.idle(2)
        let encoder = try await fixture.idleEncoder()
        #expect(!decoders.contains(encoder))
        let file = Task { try await fixture.encodeSlowly() }
        #expect(await fixture.busyEncoder() == encoder)
        #expect(fixture.codec.idleProcesses == decoders)
        _ = try await file.value
        let slow = fixture.startSlowly()
        _ = await fixture.busy(of: decoders)
        #expect(fixture.codec.encoders?.idleProcesses == [encoder])
        _ = try await slow.value
    }

    @Test func `an image whose encoder crashes is given to another`() async throws {
        let fixture = try SandboxFixture()
        let encoder = try await fixture.idleEncoder()
        let file = Task { try await fixture.encodeSlowly() }
        _ = await fixture.busyEncoder()
        kill(encoder, SIGKILL)
        #expect(try await ImageHeader.inspect(file.value).storedSize == SandboxFixture.noiseSize)
        #expect(fixture.metric("alula_decode_retries_total") == 1 && fixture.ends(.killed) == 1)
        #expect(fixture.metric("alula_quarantined_total") == 0)
    }

    @Test func `an image that crashes two encoders is an internal error, and rejected for a while`() async throws {
        let fixture = try SandboxFixture()
        let first = try await fixture.idleEncoder()
        let file = Task { try await fixture.encodeSlowly() }
        _ = await fixture.busyEncoder()
        kill(first, SIGKILL)
        kill(await fixture.busyEncoder(besides: first), SIGKILL)
        await #expect(throws: ImagingError.encodeFailed(detail: "a worker was ended by signal 9")) {
            try await file.value
        }
        await #expect(throws: ImagingError.encodeFailed(detail: "the file recently crashed a worker process")) {
            try await fixture.encodeSlowly()
        }
        #expect(fixture.ends(.killed) == 2)
        // The pixels may be encoded in another format.
        #expect(try await ImageHeader.inspect(fixture.encodeSlowly(as: .gif)).format == .gif)
    }

    @Test func `an encode past its deadline is stopped with its worker, and its image rejected for a while`()
        async throws
    {
        let fixture = try SandboxFixture()
        let encoder = try await fixture.idleEncoder()
        await #expect(throws: DeadlineExceeded.self) { try await fixture.encodeSlowly(timeLimit: .milliseconds(20)) }
        #expect(fixture.ends(.deadline) == 1)
        #expect(try await fixture.idleEncoder() != encoder)
        #expect(kill(encoder, 0) != 0 || errno == ESRCH)
        await #expect(throws: DeadlineExceeded.self) { try await fixture.encodeSlowly() }
        #expect(fixture.ends(.deadline) == 1)
        // Another quality may take less time.
        let file = try fixture.codec.encode(SandboxFixture.noise, quality: 10)
        #expect(try ImageHeader.inspect(file).format == .avif)
    }

    @Test func `a GIF past its deadline is stopped with its encoder, too`() async throws {
        let fixture = try SandboxFixture()
        let encoder = try await fixture.idleEncoder()
        await #expect(throws: DeadlineExceeded.self) {
            try await fixture.encodeSlowly(as: .gif, timeLimit: .milliseconds(20))
        }
        #expect(fixture.ends(.deadline) == 1)
        #expect(try await fixture.idleEncoder() != encoder)
    }

    @Test func `an encode without a waiting caller is stopped with its worker`() async throws {
        let fixture = try SandboxFixture()
        _ = try await fixture.idleEncoder()
        let token = WorkToken()
        let pool = WorkerPool(count: 1, maximumQueued: 1, name: "test")
        defer { pool.shutDown() }
        let codec = fixture.codec
        let file = Task {
            try await pool.run { _ in
                try codec.encode(SandboxFixture.noise, quality: 90, token: token)
            }
        }
        _ = await fixture.busyEncoder()
        token.cancel()
        await #expect(throws: CancellationError.self) { try await file.value }
        #expect(fixture.ends(.canceled) == 1 && fixture.metric("alula_quarantined_total") == 0)
    }

    @Test func `nothing is encoded after the shutdown`() throws {
        let fixture = try SandboxFixture()
        fixture.codec.shutDown()
        #expect(throws: WorkerPool.Stopped.self) {
            try fixture.codec.encode(SandboxFixture.noise)
        }
    }

    @Test func `an image that AVIF cannot hold crashes no worker`() throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        let photo = ImageFixture.photo(width: 64, height: 64)
        let planes = try InProcessCodec().decode(photo)
        for codec in [fixture.codec, InProcessCodec()] as [any ImageCodec] {
            #expect(throws: ImagingError.encodeFailed(detail: "the luma and chroma planes have different sizes")) {
                try codec.encode(planes)
            }
        }
        #expect(fixture.endCount == 0)
    }
}
