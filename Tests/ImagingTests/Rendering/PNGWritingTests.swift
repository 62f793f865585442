import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// The color type and bit depth of encoded PNG files, whose colors are exact.
@Suite(.timeLimit(.minutes(1)))
struct PNGWritingTests {
    /// The color type and bit depth in a file's header.
    private struct Kind: Equatable, CustomStringConvertible {
        let type: UInt8
        let depth: UInt8

        var description: String { "type \(type) of \(depth) bits" }

        static let gray = 0 as UInt8
        static let color = 2 as UInt8
        static let palette = 3 as UInt8
        static let grayAlpha = 4 as UInt8
        static let colorAlpha = 6 as UInt8

        init(_ type: UInt8, _ depth: UInt8) { (self.type, self.depth) = (type, depth) }

        init(_ file: [UInt8]) { self.init(file[25], file[24]) }
    }

    /// Pixels as red, green, blue and alpha.
    private func colors(_ image: DecodedImage) -> [[UInt8]] {
        let pixels = image.widened(to: 4).pixels.array
        return stride(from: 0, to: pixels.count, by: 4).map { Array(pixels[$0..<$0 + 4]) }
    }

    private func file(_ image: SampleImage, quality: Int? = nil) throws -> [UInt8] {
        try ImageLibrary.start()
        return try ImageEncoder.encode(
            pixels: image.pixels, size: image.size, bands: image.bands, format: .png, quality: quality
        ).bytes.array
    }

    /// The kind of the encoded file, whose pixels must equal those of `image`.
    private func kind(of image: SampleImage) throws -> Kind {
        let file = try file(image)
        let decoded = try ImageReading.decode(SharedBytes(file))
        #expect(decoded.size == image.size)
        let isEqual = colors(decoded) == colors(DecodedImage(image))
        #expect(isEqual, "the pixels are not those that were written")
        return Kind(file)
    }

    /// Each number below `count` once, then random ones.
    private func numbers(below count: Int) -> (Int) -> Int {
        { place in
            var mixed = UInt64(place) &* 0x9E37_79B9_7F4A_7C15
            mixed = (mixed ^ mixed >> 29) &* 0xBF58_476D_1CE4_E5B9
            return place < count ? place : Int(mixed >> 33) % count
        }
    }

    /// A narrow image with `count` colors in random order, whose rows end within a byte.
    private func image(_ count: Int, bands: Int, color: (Int) -> [UInt8]) -> SampleImage {
        let number = numbers(below: count)
        return SampleImage(PixelSize(width: 37, height: 101), bands: bands) { x, y in color(number(y * 37 + x)) }
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8)])
    func `a palette has as few bits as its colors need`(count: Int, depth: Int) throws {
        let opaque = image(count, bands: 3) { [UInt8($0), UInt8($0 * 7 % 256), 9] }
        #expect(try kind(of: opaque) == Kind(Kind.palette, UInt8(depth)))
        let transparent = image(count, bands: 4) { [UInt8($0), 200, 9, UInt8(255 - $0 * 3 % 256)] }
        #expect(try kind(of: transparent) == Kind(Kind.palette, UInt8(depth)))
    }

    @Test func `rows too many to be compressed in one step are written one by one`() throws {
        for height in [1_000, 1_100] {
            let noise = SampleImage.noise(PixelSize(width: 1_300, height: height), bands: 3)
            let decoded = try ImageReading.decode(SharedBytes(file(noise)))
            let isEqual = decoded.pixels.array == noise.pixels
            #expect(isEqual, "the pixels are not those that were written")
        }
    }

    @Test func `257 colors have no palette`() throws {
        #expect(try kind(of: image(257, bands: 3) { [UInt8($0 % 256), UInt8($0 / 256), 3] }) == Kind(Kind.color, 8))
    }

    @Test(arguments: [(2, 255, 1), (4, 85, 2), (16, 17, 4)])
    func `levels of few bits become gray of few bits`(count: Int, step: Int, depth: Int) throws {
        let gray = image(count, bands: 1) { [UInt8($0 * step)] }
        #expect(try kind(of: gray) == Kind(Kind.gray, UInt8(depth)))
        let color = image(count, bands: 3) { [UInt8](repeating: UInt8($0 * step), count: 3) }
        #expect(try kind(of: color) == Kind(Kind.gray, UInt8(depth)))
    }

    @Test(arguments: [1, 3, 4])
    func `other grays have a palette if it needs fewer bits`(bands: Int) throws {
        func levels(_ count: Int) -> SampleImage {
            image(count, bands: bands) { place in
                let level = UInt8(place * 50 % 251 + 3)
                return Array([level, level, level, 255].prefix(bands))
            }
        }
        #expect(try kind(of: levels(3)) == Kind(Kind.palette, 2))
        #expect(try kind(of: levels(200)) == Kind(Kind.gray, 8))
    }

    @Test func `fully opaque alpha is omitted`() throws {
        let size = PixelSize(width: 64, height: 48)
        let photo = SampleImage.photo(size)
        func veiled(_ alpha: UInt8, at place: Int) -> SampleImage {
            SampleImage(size, bands: 4) { x, y in
                let start = 3 * (y * size.width + x)
                return Array(photo.pixels[start..<start + 3]) + [start == 3 * place ? alpha : 255]
            }
        }
        #expect(try kind(of: veiled(255, at: 0)) == Kind(Kind.color, 8))
        #expect(try file(veiled(255, at: 0)) == file(photo))
        for place in [0, 1_023, 1_024, size.area - 1] {
            #expect(try kind(of: veiled(254, at: place)) == Kind(Kind.colorAlpha, 8))
        }
        let few = image(3, bands: 4) { [UInt8($0 * 9), 4, 7, 255] }
        #expect(try kind(of: few) == Kind(Kind.palette, 2))
        #expect(try !ImageHeader.inspect(SharedBytes(file(few))).hasAlpha)
        let levels = image(200, bands: 2) { [UInt8($0), 255] }
        #expect(try kind(of: levels) == Kind(Kind.gray, 8))
    }

    @Test func `colors are omitted if all pixels are gray`() throws {
        let size = PixelSize(width: 64, height: 48)
        func shades(_ red: Int, at place: Int) -> SampleImage {
            SampleImage(size, bands: 4) { x, y in
                let (gray, isRed) = (UInt8(3 * x), y * size.width + x == place)
                return [gray + (isRed ? UInt8(red) : 0), gray, gray, UInt8(5 * y)]
            }
        }
        #expect(try kind(of: shades(0, at: 0)) == Kind(Kind.grayAlpha, 8))
        let gray = SampleImage(size, bands: 2) { x, y in [UInt8(3 * x), UInt8(5 * y)] }
        #expect(try file(gray) == file(shades(0, at: 0)))
        for place in [0, 1_024, size.area - 1] {
            #expect(try kind(of: shades(1, at: place)) == Kind(Kind.colorAlpha, 8))
        }
        // Few combinations of levels and alphas use a palette.
        #expect(try kind(of: image(12, bands: 2) { [UInt8($0), UInt8(40 * ($0 % 4))] }) == Kind(Kind.palette, 4))
    }

    @Test func `all frames of an animation are of one kind`() throws {
        let size = PixelSize(width: 40, height: 30)
        func animation(_ bands: Int, _ last: [UInt8]) throws -> (kind: Kind, isSame: Bool) {
            let frames = (0..<3).map { frame in
                SampleImage(size, bands: bands) { x, y in
                    let value = UInt8((x * 6 + y * 7 * frame) % 251)
                    let isLast = frame == 2 && x == 39 && y == 29
                    return isLast ? last : Array([value, value, value, 255].prefix(bands))
                }
            }
            let image = DecodedImage(
                pixels: SharedBytes(frames.flatMap(\.pixels)), size: size, bands: bands, frames: 3,
                delays: [40, 50, 60])
            let plan = RenderPlan(
                decode: DecodePlan(isAnimated: true), resizedSize: size, format: .png, quality: 100)
            let file = try ImageRenderer.render(image, plan: plan, token: WorkToken()).bytes
            let read = try ImageReading.decode(file)
            #expect(read.frames == 3 && read.delays == image.delays)
            return (Kind(file.array), colors(read) == colors(image))
        }
        try ImageLibrary.start()
        #expect(try animation(4, [9, 9, 9, 255]) == (Kind(Kind.gray, 8), true))
        #expect(try animation(4, [9, 9, 10, 255]) == (Kind(Kind.palette, 8), true))
        #expect(try animation(3, [9, 9, 9]) == (Kind(Kind.gray, 8), true))
        #expect(try animation(4, [9, 9, 9, 254]) == (Kind(Kind.palette, 8), true))
    }

    @Test func `gray in Display P3 has no profile, because it equals sRGB's`() throws {
        try ImageLibrary.start()
        for count in [3, 200] {
            let greys = image(count, bands: 3) { [UInt8](repeating: UInt8($0 * 50 % 251 + 3), count: 3) }
            let source = SharedBytes(ImageFixture.file(greys, as: .png))
            let files = try [Gamut.srgb, .p3].map { gamut in
                try thumbnail(source, options(nil, nil) { $0.gamut = gamut }, .png).bytes.array
            }
            #expect(files[0] == files[1] && Kind(files[0]).type == (count == 3 ? Kind.palette : Kind.gray))
        }
    }

    @Test(arguments: ["none", "sub", "up", "average", "Paeth"])
    func `each row has its best filter`(filter: String) throws {
        // All values inside the image are the filter's prediction plus 5.
        let size = PixelSize(width: 120, height: 90)
        let (step, row) = (3, 3 * size.width)
        let outside = numbers(below: 256)
        var pixels: [UInt8] = []
        for place in 0..<row * size.height {
            let left = place % row < step ? outside(place + 256) : Int(pixels[place - step])
            let above = place < row ? outside(place + 256) : Int(pixels[place - row])
            let corner = place < row || place % row < step ? left : Int(pixels[place - row - step])
            let near = left + above - corner
            let nearest = [left, above, corner].min { abs($0 - near) < abs($1 - near) } ?? 0
            let expected = ["none": 0, "sub": left, "up": above, "average": (left + above) / 2, "Paeth": nearest]
            pixels.append(UInt8(truncatingIfNeeded: (expected[filter] ?? 0) + 5 + (filter == "none" ? place % 7 : 0)))
        }
        let image = SampleImage(size, bands: step) { x, y in
            Array(pixels[y * row + step * x..<y * row + step * (x + 1)])
        }
        // The filter's number is nowhere in the file, whose rows repeat a few values.
        _ = try kind(of: image)
        let count = try file(image).count
        #expect(count < image.pixels.count / 10, "\(count) bytes")
    }

    @Test func `a smooth transition is filtered if that saves bytes`() throws {
        let ramp = SampleImage(PixelSize(width: 256, height: 200), bands: 3) { x, _ in [UInt8(x), 60, UInt8(255 - x)] }
        let file = try file(ramp)
        let number = numbers(below: 256)
        let scattered = try self.file(
            SampleImage(ramp.size, bands: 3) { x, y in
                let index = number(y * 256 + x)
                return [UInt8(index), 60, UInt8(255 - index)]
            })
        #expect(Kind(file) == Kind(Kind.color, 8) && Kind(scattered) == Kind(Kind.palette, 8))
    }

    @Test(arguments: [1, 2, 3, 4])
    func `a higher quality has more colors of a palette`(bands: Int) throws {
        let size = PixelSize(width: 96, height: 64)
        let photo = SampleImage.photoWithAlpha(size)
        let image = SampleImage(size, bands: bands) { x, y in
            let pixel = Array(photo.pixels[4 * (y * size.width + x)..<4 * (y * size.width + x) + 4])
            return bands > 2
                ? Array(pixel.prefix(bands)) : Array([pixel[0] / 2 + pixel[1] / 2, pixel[3]].prefix(bands))
        }
        var last = (difference: Double.infinity, count: 0)
        for quality in [1, 50, 90] {
            let file = try file(image, quality: quality)
            if bands == 1 {
                // All grays fit into a palette, so quality removes none.
                #expect(file == (try self.file(image)))
                continue
            }
            let decoded = try ImageReading.decode(SharedBytes(file))
            let pairs = zip(colors(decoded), colors(DecodedImage(image)))
            // Colors are weighted by alpha: transparent pixels do not count.
            let sum = pairs.reduce(0.0) { sum, pair in
                sum
                    + (0..<4).reduce(0.0) { part, channel in
                        func value(_ color: [UInt8]) -> Double {
                            channel == 3 ? Double(color[3]) : Double(color[channel]) * Double(color[3]) / 255
                        }
                        let difference = value(pair.0) - value(pair.1)
                        return part + difference * difference
                    }
            }
            let difference = (sum / Double(4 * size.area)).squareRoot()
            let count = Set(colors(decoded)).count
            #expect(Kind(file).type == Kind.palette && count <= 256)
            #expect(difference < last.difference && count > last.count)
            #expect(difference < Double(100 - quality) / 5 + 8)
            last = (difference, count)
        }
    }

    @Test func `few colors stay exact at any quality`() throws {
        let quarters = SampleImage.quarters(PixelSize(width: 40, height: 30))
        #expect(try file(quarters, quality: 1) == file(quarters))
        let many = SampleImage.photo(PixelSize(width: 40, height: 30))
        #expect(try file(many, quality: 100) == file(many))
    }

    @Test func `a quality counts only with a chosen format`() throws {
        func texts(_ quality: Int?, isFormatChosen: Bool) throws -> [String] {
            try RenderPlan(
                options: options(20, nil) { $0.quality = quality }, format: .png, isFormatChosen: isFormatChosen,
                source: ImageHeader(format: .jpeg, storedSize: PixelSize(width: 40, height: 30)),
                limits: ImagingLimits()
            ).keyTexts
        }
        #expect(try texts(80, isFormatChosen: false) == texts(nil, isFormatChosen: true))
        #expect(try texts(100, isFormatChosen: true) == texts(nil, isFormatChosen: true))
        #expect(try texts(80, isFormatChosen: true) != texts(nil, isFormatChosen: true))
    }

    @Test func `stopped work ends before the file is written`() throws {
        try ImageLibrary.start()
        let size = PixelSize(width: 400, height: 300)
        let photo = SampleImage.photo(size)
        let image = DecodedImage(pixels: SharedBytes(photo.pixels), size: size, bands: 3)
        let token = WorkToken()
        token.cancel()
        let plan = RenderPlan(resizedSize: size, format: .png, quality: 50)
        #expect(throws: CancellationError.self) { try ImageRenderer.render(image, plan: plan, token: token) }
    }
}
