import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PNGAnimationTests {
    /// A frame of one color.
    private struct Frame {
        var left = 0
        var top = 0
        var width = 4
        var height = 4
        var color: [UInt8]
        var disposal = 0
        var blending = 0
        var delay = (part: 1, of: 10)

        func control(_ number: Int) -> [UInt8] {
            [number, width, height, left, top].flatMap(\.bigEndian32) + delay.part.bigEndian16 + delay.of.bigEndian16
                + [UInt8(disposal), UInt8(blending)]
        }

        var rows: [UInt8] {
            Zlib.stored((0..<height).flatMap { _ in [0] + (0..<width).flatMap { _ in color } })
        }
    }

    /// A canvas of 4×4 pixels with these frames; the first one is the static image unless that is hidden.
    private func file(
        _ frames: [Frame], type: PNGWriter.ColorType = .rgba, loop: Int = 0, isStillHidden: Bool = false,
        isSplit: Bool = false, change: (inout PNGWriter) -> Void = { _ in }
    ) throws -> SharedBytes {
        var writer = PNGWriter(width: 4, height: 4, colorType: type)
        writer.chunks.append(("acTL", frames.count.bigEndian32 + loop.bigEndian32))
        var sequence = 0
        func next() -> Int {
            defer { sequence += 1 }
            return sequence
        }
        for (index, frame) in frames.enumerated() {
            if index == 0, !isStillHidden {
                writer.chunks.append(("fcTL", frame.control(next())))
            } else {
                writer.laterChunks.append(("fcTL", frame.control(next())))
                let rows = frame.rows
                let parts: [ArraySlice<UInt8>] = isSplit ? [rows.prefix(5), [], rows.dropFirst(5)] : [rows[...]]
                for part in parts {
                    writer.laterChunks.append(("fdAT", next().bigEndian32 + part))
                }
            }
        }
        change(&writer)
        return SharedBytes(writer.file(deflated: isStillHidden ? Frame(color: [9, 9, 9, 255]).rows : frames[0].rows))
    }

    private func decode(_ file: SharedBytes, _ plan: DecodePlan = DecodePlan(isAnimated: true)) throws -> DecodedImage {
        try ImageLibrary.start()
        return try ImageDecoder.decode(
            file, header: .inspect(file), plan: plan, limits: .none, token: WorkToken())
    }

    private func pixel(_ image: DecodedImage, _ x: Int, _ y: Int, frame: Int) -> [UInt8] {
        let start = ((frame * image.size.height + y) * image.size.width + x) * image.bands
        return Array(image.pixels.array[start..<start + image.bands])
    }

    private static let red: [UInt8] = [255, 0, 0, 255]
    private static let blue: [UInt8] = [0, 0, 255, 255]
    private static let clear: [UInt8] = [0, 0, 0, 0]

    @Test func `a frame's pixels are preserved, cleared or restored by its disposal`() throws {
        for (disposal, left) in [(0, Self.blue), (1, Self.clear), (2, Self.red)] {
            let small = Frame(left: 1, top: 1, width: 2, height: 2, color: Self.blue, disposal: disposal)
            let corner = Frame(left: 3, top: 3, width: 1, height: 1, color: Self.blue)
            let image = try decode(file([Frame(color: Self.red), small, corner], loop: 3))
            #expect(image.frames == 3 && image.delays == [100, 100, 100] && image.loop == 3)
            #expect(pixel(image, 1, 2, frame: 0) == Self.red)
            #expect(pixel(image, 1, 2, frame: 1) == Self.blue && pixel(image, 0, 0, frame: 1) == Self.red)
            #expect(pixel(image, 1, 2, frame: 2) == left && pixel(image, 3, 3, frame: 2) == Self.blue)
        }
    }

    @Test func `a frame replaces the canvas, or is drawn over it`() throws {
        let glass: [UInt8] = [0, 0, 255, 128]
        for (blending, expected) in [(0, glass), (1, [127, 0, 128, 255])] {
            var over = Frame(color: glass)
            over.blending = blending
            #expect(try pixel(decode(file([Frame(color: Self.red), over])), 2, 2, frame: 1) == expected)
        }
        // Over a transparent canvas, a frame is unchanged; over a half-transparent one, both are weighted by alpha.
        var half = Frame(color: [255, 0, 0, 128])
        half.disposal = 0
        var over = Frame(color: glass)
        over.blending = 1
        let mixed = try pixel(decode(file([half, over])), 0, 0, frame: 1)
        #expect(mixed[3] == 192 && abs(Int(mixed[0]) - 85) <= 1 && abs(Int(mixed[2]) - 170) <= 1)
    }

    @Test func `a page is one frame, and the still is the file's static image`() throws {
        let bytes = try file([Frame(color: Self.red), Frame(color: Self.blue)], isStillHidden: true)
        let header = try ImageHeader.inspect(bytes)
        #expect(header.frames == 2 && header.hasAlpha)
        #expect(try pixel(decode(bytes, DecodePlan(page: 1)), 0, 0, frame: 0) == Self.blue)
        #expect(try pixel(decode(bytes, DecodePlan()), 0, 0, frame: 0) == [9, 9, 9, 255])
        #expect(try pixel(decode(bytes), 0, 0, frame: 0) == Self.red)
        #expect(throws: ImagingError.noSuchPage(2, pages: 2)) { try decode(bytes, DecodePlan(page: 2)) }
    }

    @Test(arguments: [false, true])
    func `a frame's data may be in several chunks`(isStillHidden: Bool) throws {
        let frames = [Frame(color: Self.red), Frame(color: Self.blue)]
        let image = try decode(file(frames, isStillHidden: isStillHidden, isSplit: true))
        #expect(image.frames == 2)
        #expect(pixel(image, 1, 1, frame: 0) == Self.red && pixel(image, 1, 1, frame: 1) == Self.blue)
    }

    @Test func `the first control may come before the number of frames`() throws {
        let bytes = try file([Frame(color: Self.red), Frame(color: Self.blue)]) { $0.chunks.swapAt(0, 1) }
        #expect(try ImageHeader.inspect(bytes).frames == 2)
        // After the static image, `acTL` is ignored.
        let late = try file([Frame(color: Self.red), Frame(color: Self.blue)]) {
            $0.laterChunks.insert($0.chunks.removeFirst(), at: 0)
        }
        #expect(try ImageHeader.inspect(late).frames == 1)
    }

    @Test func `opaque frames stay without alpha until the background shows`() throws {
        let (red, blue): ([UInt8], [UInt8]) = ([255, 0, 0], [0, 0, 255])
        let opaque = try file([Frame(color: red), Frame(left: 1, width: 1, color: blue)], type: .rgb)
        #expect(try ImageHeader.inspect(opaque).bands == 3 && decode(opaque).bands == 3)
        let open = try file([Frame(color: red, disposal: 1), Frame(left: 1, width: 1, color: blue)], type: .rgb)
        #expect(try ImageHeader.inspect(open).hasAlpha)
        let image = try decode(open)
        #expect(pixel(image, 0, 0, frame: 0) == Self.red && pixel(image, 0, 0, frame: 1) == Self.clear)
        #expect(pixel(image, 1, 0, frame: 1) == Self.blue)
    }

    @Test func `palettes, gray and 16 bits have frames`() throws {
        let palette = try file([Frame(color: [0]), Frame(color: [1])], type: .palette) { writer in
            writer.palette = [255, 0, 0, 0, 0, 255]
            writer.transparency = [128]
        }
        #expect(try pixel(decode(palette), 3, 3, frame: 0) == [255, 0, 0, 128])
        #expect(try pixel(decode(palette), 3, 3, frame: 1) == Self.blue)
        let gray = try file([Frame(color: [7]), Frame(left: 2, width: 2, color: [9])], type: .gray)
        #expect(try pixel(decode(gray), 1, 1, frame: 1) == [7] && pixel(decode(gray), 2, 1, frame: 1) == [9])
        let deep = try file(
            [Frame(color: [255, 255, 0, 0, 0, 0]), Frame(color: [0, 0, 0, 0, 255, 255])], type: .rgb
        ) { $0.bitDepth = 16 }
        #expect(try pixel(decode(deep), 1, 1, frame: 1) == [0, 0, 255])
    }

    @Test func `delays are fractions of a second, hundredths by default`() throws {
        let frames = [(1, 4), (3, 0), (2, 1_000)].map { Frame(color: Self.red, delay: $0) }
        #expect(try decode(file(frames)).delays == [250, 30, 2])
    }

    @Test func `a delay of hours is limited to what every format supports`() throws {
        var frames = [Frame(color: Self.red), Frame(color: Self.blue)]
        frames[0].delay = (65_535, 1)
        #expect(try decode(file(frames)).delays == [655_350, 100])
    }

    @Test func `a damaged animation is a still`() throws {
        let frames = [Frame(color: Self.red), Frame(color: Self.blue)]
        let damages: [(inout PNGWriter) -> Void] = [
            { $0.chunks.removeFirst() },
            { $0.chunks[0].data = 0.bigEndian32 + 0.bigEndian32 },
            { $0.chunks[1].data[3] = 5 },
            { $0.laterChunks[1].data[3] = 1 },
            { $0.laterChunks[0].data[7] = 5 },
            { $0.laterChunks[0].data[15] = 1 },
            { $0.laterChunks[0].data[24] = 3 },
            { $0.laterChunks[0].data[25] = 2 },
            { $0.laterChunks.removeFirst() },
            { $0.laterChunks.removeLast() },
        ]
        #expect(try ImageHeader.inspect(file(frames)).frames == 2)
        for (index, damage) in damages.enumerated() {
            let bytes = try file(frames, change: damage)
            #expect(try ImageHeader.inspect(bytes).frames == 1, "damage \(index)")
            #expect(try pixel(decode(bytes, DecodePlan()), 0, 0, frame: 0) == Self.red, "damage \(index)")
        }
    }

    @Test func `a frame with missing rows is rejected`() throws {
        let bytes = try file([Frame(color: Self.red), Frame(color: Self.blue)]) { writer in
            writer.laterChunks[1].data.removeLast(40)
        }
        #expect(throws: ImagingError.self) { try decode(bytes) }
        #expect(try pixel(decode(bytes, DecodePlan()), 0, 0, frame: 0) == Self.red)
    }

    @Test(arguments: [3, 4], [false, true])
    func `encoded frames round-trip, with few colors or many`(bands: Int, hasMany: Bool) throws {
        try ImageLibrary.start()
        let size = PixelSize(width: 40, height: 30)
        let frames = (0..<4).map { frame in
            SampleImage(size, bands: bands) { x, y in
                let isDot = frame != 2 && x / 10 == frame && y > 3
                let value = hasMany ? UInt8((x * 6 + y * 7) % 251) : 40
                return Array([isDot ? 200 : value, UInt8(hasMany ? y * 8 : 9), 7, isDot ? 255 : 90].prefix(bands))
            }.pixels
        }
        let image = DecodedImage(
            pixels: SharedBytes(frames.flatMap { $0 }), size: size, bands: bands, frames: 4,
            delays: [10, 70_000, 0, 40], loop: 2)
        let plan = RenderPlan(
            decode: DecodePlan(isAnimated: true), resizedSize: size, format: .png, quality: 100)
        let file = try ImageRenderer.render(image, plan: plan, token: WorkToken()).bytes
        let read = try decode(file)
        #expect(read.delays == [10, 70_000, 0, 40] && read.loop == 2 && read.frames == 4)
        #expect(read.pixels.array == image.pixels.array && read.bands == bands)
        // The static image is the first frame.
        #expect(try decode(file, DecodePlan()).pixels.array == frames[0])
    }
}
