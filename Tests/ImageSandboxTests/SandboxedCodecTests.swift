import CLinux
import Coordination
import Foundation
import Glibc
import Imaging
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing

@testable import ImageSandbox

@Suite(.serialized, .timeLimit(.minutes(5)))
struct SandboxedCodecTests {
    @Test func `a worker makes the same pixels as this process`() throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        let profile = ICCWriter.profile(
            primaries: [[0.5151, 0.2412, -0.0011], [0.2920, 0.6922, 0.0419], [0.1571, 0.0666, 0.7841]])
        let photo = ImageFixture.photo(width: 401, height: 303)
        // Details in saturated colors.
        let stripes = SampleImage(PixelSize(width: 400, height: 300), bands: 3) { x, _ in
            x / 6 % 2 == 0 ? [255, 0, 0] : [255, 255, 255]
        }
        var files = ImageFixture.readable.map { ($0.rawValue, $0.bytes) }
        files += [
            ("photo", photo), ("profiled", SharedBytes(JPEGWriter.profiled(photo.array, profile))),
            ("turned", SharedBytes(JPEGWriter.oriented(photo.array, 6))),
            ("webp", ImageFixture.photo(width: 401, height: 303, format: .webp)),
            ("stripes", SharedBytes(ImageFixture.file(stripes, as: .jpeg))),
            ("turned stripes", SharedBytes(JPEGWriter.oriented(ImageFixture.file(stripes, as: .jpeg), 6))),
            ("png", ImageFixture.photo(width: 401, height: 303, format: .png)),
        ]
        for (name, file) in files {
            let header = try ImageHeader.inspect(file)
            for level in [1, 2, 8] {
                let plan = DecodePlan(level: level, isAnimated: header.frames > 1)
                let expected = try InProcessCodec().decode(file, plan: plan)
                let image = try fixture.decode(file, plan: plan)
                #expect(image.description == expected.description, "\(name) at \(level)")
                // Compare renders, because the padding of rows in planes is arbitrary.
                let render = RenderPlan(
                    decode: plan, resizedSize: image.size, format: header.frames > 1 ? .gif : .png, quality: 100)
                let isSame =
                    try ImageRenderer.render(image, plan: render, token: WorkToken()).bytes.array
                    == ImageRenderer.render(expected, plan: render, token: WorkToken()).bytes.array
                #expect(isSame, "\(name) at \(level)")
            }
        }
        #expect(fixture.endCount == 0)
    }

    @Test func `work is charged with the processor time of its worker process`() throws {
        let fixture = try SandboxFixture()
        let file = ImageFixture.photo(width: 1_601, height: 1_203, format: .png)
        let header = try ImageHeader.inspect(file)
        let token = WorkToken()
        let start = SystemTimekeeper().now
        _ = try fixture.codec.decode(file, header: header, plan: DecodePlan(), limits: .none, token: token)
        let time = token.processorTimeOfProcesses
        #expect(time > .zero && time <= (SystemTimekeeper().now - start) * 2)
    }

    @Test(arguments: [1, 6]) func `results with a gain map are the same from workers and from this process`(
        orientation: Int
    ) throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        var writer = UltraHDRWriter.scene(PixelSize(width: 801, height: 603), isColor: true)
        writer.image = JPEGWriter.oriented(writer.image, orientation)
        let file = writer.bytes
        let header = try ImageHeader.inspect(file)
        var options = RenderingOptions()
        (options.width, options.gainMap) = (90, .keep)
        let plan = try RenderPlan(options: options, format: .jpeg, source: header, limits: .none)
        let results = try [fixture.codec, InProcessCodec()].map { (codec: any ImageCodec) in
            let image = try codec.decodeWithGainMap(
                file, header: header, plan: plan.decode, limits: .none, token: WorkToken())
            return try ImageRenderer.render(image, plan: plan, token: WorkToken(), codec: codec)
        }
        #expect(results.allSatisfy(\.hasGainMap) && results[0].bytes.array == results[1].bytes.array)
    }

    @Test(arguments: [ImageFixture.jpegTruncated, .pngTruncated, .webpTruncated, .gifTruncated])
    func `a worker reports whether an image lacks pixels`(fixture file: ImageFixture) throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        let plan = DecodePlan(incompleteImages: .serve)
        let expected = try InProcessCodec().decode(file.bytes, plan: plan)
        let image = try fixture.decode(file.bytes, plan: plan)
        #expect(image.isIncomplete && image.description == expected.description)
        #expect(throws: ImagingError.self) { try fixture.decode(file.bytes) }
    }

    @Test func `a worker reports whether it repaired a file`() throws {
        let fixture = try SandboxFixture()
        var writer = PNGWriter(width: 40, height: 30, colorType: .rgb)
        writer.rowsChunk = 500
        var file = writer.file { x, y in [5 * x, 7 * y, 90] }
        #expect(try !fixture.decode(SharedBytes(file)).isRepaired)
        // Damage the checksum of the first `IDAT` chunk; some versions of libvips do not check the last one.
        file[33 + 508] ^= 1
        let image = try fixture.decode(SharedBytes(file))
        #expect(image.isRepaired && !image.isIncomplete)
    }

    @Test func `a worker decodes the first frames`() throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        for file in [ImageFixture.gifAnimated, .webpAnimated] {
            let image = try fixture.decode(file.bytes, plan: DecodePlan(isAnimated: true, maximumFrames: 2))
            #expect(image.frames == 2 && image.delays == [100, 200] && image.loop == 5)
        }
    }

    @Test func `AVIF is decoded in a confined worker`() throws {
        let fixture = try SandboxFixture()
        try #require(fixture.codec.protections.isSandbox)
        let image = try fixture.decode(ImageFixture.avif.bytes)
        #expect(image.size == ImageFixture.size && image.bands == 3)
    }

    @Test func `rotated, tiled, gray and unusually profiled images are the same from a worker`() throws {
        let fixture = try SandboxFixture()
        try #require(fixture.codec.protections.isSandbox)
        var turned = HEIFWriter.Item.coded(.quarters(ImageFixture.size))
        turned.properties.append(HEIFBox.rotation(1))
        let grid = HEIFWriter.Item.grid(of: [1, 1], columns: 1, size: PixelSize(width: 60, height: 90), id: 2)
        var cut = HEIFWriter.Item.coded(.quarters(PixelSize(width: 400, height: 400)))
        cut.properties.append(HEIFBox.aperture(385, 331, right: 1, down: 3))
        let swapped = [1, 0, 2].map { ICCWriter.standardPrimaries[$0] }
        let profiles = [ICCWriter.tables([("A2B0", swapped)]), ICCWriter.inks, ICCWriter.gray(gamma: 563)]
        let files =
            [
                HEIFWriter([turned], primary: 1).file,
                HEIFWriter([.coded(.quarters(ImageFixture.size)), grid], primary: 2).file,
                HEIFWriter([.limitedGray], primary: 1).file, HEIFWriter([cut], primary: 1).file,
            ] + profiles.map { JPEGWriter.profiled(ImageFixture.jpeg.array, $0) }
        for (index, file) in files.enumerated() {
            let file = SharedBytes(file)
            // The row padding of reduced JPEGs is not compared.
            for level in index < 4 ? [1, 2, 4] : [1] {
                let plan = DecodePlan(level: level)
                let image = try fixture.decode(file, plan: plan)
                let expected = try InProcessCodec().decode(file, plan: plan)
                let isSame = image.pixels.array == expected.pixels.array
                #expect(isSame && image.size == expected.size && image.layout == expected.layout, "file \(index)")
            }
        }
        #expect(fixture.endCount == 0)
    }

    @Test(arguments: [ImageFixture.jpegTruncated, .pngTruncated, .webpTruncated, .gifTruncated])
    func `a damaged image crashes no worker`(damaged: ImageFixture) async throws {
        let fixture = try SandboxFixture()
        let before = await fixture.idle(2)
        #expect(throws: ImagingError.self) { try fixture.decode(damaged.bytes) }
        #expect(fixture.codec.idleProcesses == before)
        #expect(try fixture.decode(ImageFixture.jpeg.bytes).size == ImageFixture.size)
    }

    @Test func `images that the limits forbid never reach a worker`() async throws {
        let fixture = try SandboxFixture()
        let file = ImageFixture.jpeg.bytes
        var limits = ImagingLimits()
        limits.maximumSourcePixels = 10
        // The codec would notice stopped workers.
        for process in await fixture.idle(2) { kill(process, SIGSTOP) }
        #expect(throws: ImagingError.tooManyPixels(ImageFixture.size)) {
            try fixture.codec.decode(
                file, header: .inspect(file), plan: DecodePlan(), limits: limits, token: WorkToken())
        }
        #expect(fixture.ends(.killed) == 0)
    }

    @Test func `reduced JPEG images are counted by their decoder`() throws {
        let fixture = try SandboxFixture()
        let photo = ImageFixture.photo(width: 401, height: 303)
        let cut = SharedBytes(Array(photo.array.dropLast(photo.count / 4)))
        _ = try fixture.decode(photo, plan: DecodePlan(level: 1))
        for level in [2, 8] { _ = try fixture.decode(photo, plan: DecodePlan(level: level)) }
        _ = try fixture.decode(cut, plan: DecodePlan(level: 4, incompleteImages: .serve))
        #expect(fixture.metric("alula_jpeg_fast_decodes_total") == 2)
        #expect(fixture.metric("alula_jpeg_fallbacks_total{reason=\"end\"}") == 1)
    }

    @Test func `a killed idle worker is replaced, and no image is retried`() async throws {
        let fixture = try SandboxFixture()
        let before = await fixture.idle(2)
        for process in before { kill(process, SIGKILL) }
        let codec = fixture.codec
        _ = await eventually { Set(codec.idleProcesses).isDisjoint(with: before) }
        #expect(try fixture.decode(ImageFixture.jpeg.bytes).size == ImageFixture.size)
        #expect(Set(await fixture.idle(2)).isDisjoint(with: before))
        #expect(fixture.ends(.killed) == 2)
        #expect(fixture.metric("alula_decode_retries_total") == 0)
    }

    @Test func `a stopped idle worker is replaced, and no image is retried`() async throws {
        let fixture = try SandboxFixture()
        let next = try #require(await fixture.idle(2).last)
        kill(next, SIGSTOP)
        _ = await eventually {
            var information = unsafe siginfo_t()
            let found = unsafe waitid(P_PID, id_t(next), &information, WSTOPPED | WNOHANG | CInt(WNOWAIT))
            return unsafe found == 0 && information.si_signo == SIGCHLD
        }
        #expect(try fixture.decode(ImageFixture.jpeg.bytes).size == ImageFixture.size)
        #expect(fixture.metric("alula_decode_retries_total") == 0)
        #expect(!(await fixture.idle(2)).contains(next))
    }

    @Test(arguments: [(SIGKILL, SandboxMetrics.Cause.killed), (SIGSTOP, .killed), (SIGSEGV, .crash)])
    func `an image whose worker is lost is decoded by another`(signal: CInt, cause: SandboxMetrics.Cause) async throws {
        let fixture = try SandboxFixture()
        let before = await fixture.idle(2)
        let slow = fixture.startSlowly()
        kill(await fixture.busy(of: before), signal)
        #expect(try await slow.value.size == SandboxFixture.slowSize)
        #expect(fixture.metric("alula_decode_retries_total") == 1 && fixture.ends(cause) == 1)
        #expect(fixture.metric("alula_quarantined_total") == 0)
    }

    @Test func `an image that crashes two workers is rejected for ten minutes, others are decoded`() async throws {
        let fixture = try SandboxFixture()
        let before = await fixture.idle(2)
        let slow = fixture.startSlowly()
        let first = await fixture.busy(of: before)
        kill(first, SIGKILL)
        kill(await fixture.busy(of: before.filter { $0 != first }), SIGKILL)
        await #expect(throws: ImagingError.self) { try await slow.value }
        #expect(fixture.metric("alula_quarantined_total") == 1)
        let after = await fixture.idle(2)
        fixture.time.advance(by: .seconds(599))
        #expect(throws: ImagingError.cannotDecode(detail: "the file recently crashed a worker process")) {
            try fixture.decode(SandboxFixture.slow)
        }
        #expect(fixture.codec.idleProcesses == after)
        #expect(try fixture.decode(ImageFixture.png.bytes).size == ImageFixture.size)
        fixture.time.advance(by: .seconds(1))
        #expect(try fixture.decode(SandboxFixture.slow).size == SandboxFixture.slowSize)
    }

    @Test func `more CPU time or larger pixels than granted end the worker, and the image is not retried`()
        async throws
    {
        // Only the delays after the frames are written by a system call of the worker.
        let long = SharedBytes(ImageFixture.animation(frames: 400, as: .gif, size: PixelSize(width: 32, height: 32)))
        for (limits, file) in [
            (WorkerLimits(memory: 8 << 30, pixels: 2 << 30, processorSeconds: 1), SandboxFixture.slow),
            (WorkerLimits(memory: 8 << 30, pixels: 1 << 20, processorSeconds: 60), long),
        ] {
            let fixture = try SandboxFixture { $0.launch.limits = limits }
            let plan = DecodePlan(isAnimated: try ImageHeader.inspect(file).frames > 1)
            #expect(throws: ImagingError.self) {
                for _ in 0..<100 { _ = try fixture.decode(file, plan: plan) }
            }
            #expect(fixture.ends(.limit) == 1 && fixture.metric("alula_decode_retries_total") == 0)
            #expect(fixture.metric("alula_quarantined_total") == 1)
        }
    }

    @Test func `a decode past its deadline is stopped with its worker, and the next one succeeds`() async throws {
        let fixture = try SandboxFixture()
        let before = await fixture.idle(2)
        await #expect(throws: DeadlineExceeded.self) { try await fixture.decodeSlowly(timeLimit: .milliseconds(1)) }
        #expect(fixture.ends(.deadline) == 1)
        let after = await fixture.idle(2)
        #expect(after.contains(before[0]) && !after.contains(before[1]))
        #expect(kill(before[1], 0) != 0 || errno == ESRCH)
        #expect(try fixture.decode(ImageFixture.jpeg.bytes).size == ImageFixture.size)
    }

    @Test func `a decode that uses a processor past its deadline is rejected for a while, others are not`()
        async throws
    {
        let fixture = try SandboxFixture()
        // Half of the time limit has passed before the first check.
        await #expect(throws: DeadlineExceeded.self) { try await fixture.decodeSlowly(timeLimit: .milliseconds(1)) }
        #expect(fixture.metric("alula_quarantined_total") == 1)
        await #expect(throws: DeadlineExceeded.self) { try await fixture.decodeSlowly() }
        #expect(fixture.ends(.deadline) == 1)
        #expect(try fixture.decode(SandboxFixture.slow, plan: DecodePlan(level: 8)).size.width == 1_024)
        fixture.time.advance(by: .seconds(600))
        #expect(try await fixture.decodeSlowly().size == SandboxFixture.slowSize)
    }

    @Test func `a file that needs far more time than its header's cost is damaged, and rejected for a while`()
        async throws
    {
        let fixture = try SandboxFixture { ($0.minimumDecodeTime, $0.decodeTimeMultiple) = (.zero, 0) }
        await #expect(throws: ImagingError.self) { try await fixture.decodeSlowly() }
        #expect(fixture.ends(.processorTimeExceeded) == 1 && fixture.metric("alula_quarantined_total") == 1)
        #expect(fixture.metric("alula_decode_retries_total") == 0)
        #expect(throws: ImagingError.cannotDecode(detail: "the file recently crashed a worker process")) {
            try fixture.decode(SandboxFixture.slow)
        }
    }

    @Test func `small and large images follow each other`() async throws {
        try ImageLibrary.start()
        // Time costs are measured with optimized builds.
        let fixture = try SandboxFixture { $0.minimumDecodeTime = .seconds(60) }
        let small = ImageFixture.jpeg.bytes
        // More pixels, and a longer file, than the reusable memory holds.
        let large = ImageFixture.photo(width: 1_280, height: 1_280, format: .png)
        let long = ImageTrap.jpegProfile.bytes
        #expect(long.count > ReusableMemory.count)
        // As many pixels as the reusable memory holds, followed by delays; then a few pixels more.
        let size = PixelSize(width: 32, height: 32)
        let bands = try ImageReading.decode(SharedBytes(ImageFixture.animation(frames: 2, as: .gif, size: size))).bands
        let frames = ReusableMemory.count / (size.area * bands)
        let animation = SharedBytes(ImageFixture.animation(frames: frames, as: .gif, size: size))
        let next = ImageFixture.photo(width: 1_182, height: 1_183, format: .png)
        for file in [small, large, small, long, large, small, animation, next, animation, small, long] {
            let header = try ImageHeader.inspect(file)
            let plan = DecodePlan(isAnimated: header.frames > 1)
            let image = try fixture.decode(file, plan: plan)
            let expected = try InProcessCodec().decode(file, plan: plan)
            #expect(image.description == expected.description)
            if case .interleaved = image.layout { #expect(image.pixels.array == expected.pixels.array) }
        }
        #expect(fixture.metric("alula_decode_retries_total") == 0 && fixture.ends(.forbiddenCall) == 0)
    }

    @Test func `an idle worker holds no memory of large images`() async throws {
        let fixture = try SandboxFixture()
        let worker = try #require(await fixture.idle(2).last)
        /// Bytes of files and memory behind the worker's descriptors.
        func held() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker)/fd").reduce(0) { sum, name in
                var status = stat()
                guard unsafe stat("/proc/\(worker)/fd/\(name)", &status) == 0 else { return sum }
                return sum + Int(status.st_size)
            }
        }
        for file in [SandboxFixture.slow, ImageTrap.jpegProfile.bytes, ImageFixture.jpegTruncated.bytes] {
            _ = try? fixture.decode(file)
            #expect(try held() <= 2 * (ReusableMemory.count + ReusableMemory.tailCount))
        }
        #expect(fixture.codec.idleProcesses.last == worker)
    }

    @Test func `a file takes no more memory than its header's cost`() async throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture { $0.launch.spareMemory = 16 << 20 }
        try #require(fixture.codec.protections.isSandbox)
        let size = PixelSize(width: 4_096, height: 4_096)
        let pixels = DecodedImage(
            pixels: SharedBytes([UInt8](repeating: 128, count: size.area)), size: size, bands: 1)
        let honest = try ImageEncoder.encode(pixels, as: .avif, settings: EncoderSettings(quality: 50, effort: 1))
        #expect(try fixture.decode(honest, plan: DecodePlan(level: 8)).size == PixelSize(width: 512, height: 512))
        // Change the size in the `ispe` box, which has version 0.
        var lie = honest.array
        let box = try #require(lie.firstRange(of: Array("ispe".utf8))?.upperBound)
        lie.replaceSubrange(box + 4..<box + 12, with: [0, 0, 0, 64, 0, 0, 0, 48])
        let file = SharedBytes(lie)
        #expect(try ImageHeader.inspect(file).storedSize == ImageFixture.size)
        // The decoder rejects the size of the frame regardless of the available memory.
        for spare in [16 << 20, 1 << 30] {
            let fixture = try SandboxFixture { $0.launch.spareMemory = spare }
            #expect(throws: ImagingError.cannotDecode(detail: "the coded image cannot be read")) {
                try fixture.decode(file)
            }
            #expect(fixture.endCount == 0)
        }
        #expect(try fixture.decode(ImageFixture.jpeg.bytes).size == ImageFixture.size)
    }

    @Test func `a worker may use all processors, wherever it was started`() async throws {
        let fixture = try SandboxFixture()
        let worker = try #require(await fixture.idle(2).last)
        func processors(of process: String) throws -> Substring {
            let status = try #require(contents("/proc/\(process)/status"))
            return try #require(status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") })
        }
        let all = try processors(of: "self")
        for _ in 0..<10 {
            CLinux_bind_to_this_processor(worker)
            if CLinux_available_processors() > 1 { #expect(try processors(of: "\(worker)") != all) }
            _ = try fixture.decode(ImageFixture.jpeg.bytes)
            #expect(try processors(of: "\(worker)") == all)
        }
        #expect(fixture.codec.idleProcesses.last == worker)
    }

    @Test func `an executable that is not a worker stops the start`() {
        #expect(throws: WorkerLaunch.Failure.self) {
            try SandboxFixture { $0.launch.executable = "/bin/true" }
        }
        #expect(throws: WorkerLaunch.Failure.self) {
            try SandboxFixture { $0.launch.executable = "/nowhere/alula" }
        }
    }
}
