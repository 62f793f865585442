import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Results in sRGB and in Display P3.
@Suite(.timeLimit(.minutes(2)))
struct GamutTests {
    /// Display P3's primaries in the connection space, as in files.
    static let wide = [[0.51512, 0.2412, -0.00105], [0.29198, 0.69225, 0.04189], [0.1571, 0.06657, 0.78407]]

    /// Colors from the whole RGB cube.
    private static let colors: [[UInt8]] = {
        let values: [UInt8] = [0, 40, 90, 140, 190, 225, 255]
        return values.flatMap { red in values.flatMap { green in values.map { [red, green, $0] } } }
    }()

    private static let side = 4

    /// A PNG file of color squares, with a profile.
    private static func png(_ colors: [[UInt8]], profile: [UInt8]?) -> SharedBytes {
        var writer = PNGWriter(width: colors.count * side, height: 16, colorType: .rgb)
        if let profile { writer.chunks = [("iCCP", Array("wide\0\0".utf8) + Zlib.stored(profile))] }
        return SharedBytes(writer.file { x, _ in colors[x / side].map(Int.init) })
    }

    private static let profile = ICCWriter.profile(primaries: wide)
    private static let file = png(colors, profile: profile)

    private func answer(
        _ file: SharedBytes, _ gamut: Gamut, _ format: ImageFormat = .png,
        change: (inout RenderingOptions) -> Void = { _ in }
    ) throws -> SharedBytes {
        var options = RenderingOptions()
        options.gamut = gamut
        change(&options)
        return try thumbnail(file, options, format).bytes
    }

    /// The stored pixels of a result, and whether the file declares Display P3.
    private func read(_ file: SharedBytes) throws -> (image: DecodedImage, isDisplayP3: Bool) {
        let header = try ImageHeader.inspect(file)
        let image = try ImageDecoder.decode(
            file, header: header, plan: DecodePlan(), limits: .none, token: WorkToken())
        let isDisplayP3 = image.profile?.isDisplayP3 == true
        // JPEG XL compresses its profile.
        #expect(header.format == .jxl || (header.colors.space == .displayP3) == isDisplayP3)
        return (try image.interleaved(token: WorkToken()), isDisplayP3)
    }

    private func squares(_ image: DecodedImage, count: Int = colors.count) -> [[UInt8]] {
        (0..<count).map { image.pixel(x: $0 * Self.side + 2, y: 8) }
    }

    @Test func `the color difference matches the paper's examples`() {
        // Two grays one step apart, and two reds.
        let (one, two) = (SeenColor([128, 128, 128], in: .srgb), SeenColor([129, 129, 129], in: .srgb))
        #expect(one.difference(from: one) == 0 && abs(one.difference(from: two) - 0.36) < 0.05)
        let red = SeenColor([255, 0, 0], in: .srgb)
        #expect(abs(red.lightness - 53.24) < 0.01 && abs(red.a - 80.09) < 0.05 && abs(red.b - 67.2) < 0.05)
    }

    @Test func `wide colors are preserved exactly in Display P3`() throws {
        let (image, isDisplayP3) = try read(answer(Self.file, .p3))
        #expect(isDisplayP3)
        #expect(squares(image) == Self.colors)
    }

    @Test func `in sRGB, colors inside it stay, and others keep their hue`() throws {
        let (image, isDisplayP3) = try read(answer(Self.file, .srgb))
        #expect(!isDisplayP3)
        var (inside, outside) = (0, 0)
        for (color, shown) in zip(Self.colors, squares(image)) {
            let (before, after) = (SeenColor(color, in: .p3), SeenColor(shown, in: .srgb))
            let difference = before.difference(from: after)
            if difference < 1 { inside += 1 } else { outside += 1 }
            // Mapped colors lie on the surface of the gamut: one component is at its limit.
            if difference >= 1 { #expect(shown.contains { $0 <= 1 || $0 >= 254 }, "\(color) becomes \(shown)") }
            guard after.chroma > 20, after.lightness > 20 else { continue }
            #expect(before.hueDifference(from: after) < 2, "\(color) becomes \(shown)")
            #expect(difference < 12, "\(color) becomes \(shown)")
        }
        #expect(inside > 100 && outside > 100, "\(inside) and \(outside)")
    }

    @Test(arguments: [Gamut.p3, .auto, .srgb])
    func `sRGB colors look the same in each gamut`(gamut: Gamut) throws {
        let plain = Self.png(Self.colors, profile: nil)
        let (image, isDisplayP3) = try read(answer(plain, gamut))
        #expect(isDisplayP3 == (gamut == .p3))
        for (color, shown) in zip(Self.colors, squares(image)) {
            let difference = SeenColor(color, in: .srgb).difference(
                from: SeenColor(shown, in: isDisplayP3 ? .p3 : .srgb))
            #expect(difference < 1, "\(color) becomes \(shown)")
        }
    }

    @Test func `gray stays neutral and ordered`() throws {
        let greys = (0..<64).map { [UInt8](repeating: UInt8($0 * 4), count: 3) }
        let (image, _) = try read(answer(Self.png(greys, profile: Self.profile), .srgb))
        let shown = squares(image, count: greys.count)
        for (gray, pixel) in zip(greys, shown) { #expect(pixel.allSatisfy { abs(Int($0) - Int(gray[0])) <= 1 }) }
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0[0] < $1[0] })
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp, .jxl, .avif])
    func `each format declares its colors as Display P3`(format: ImageFormat) throws {
        let vivid: [[UInt8]] = [[UInt8]](repeating: [0, 255, 0], count: 16)
        let source = Self.png(vivid, profile: Self.profile)
        let file = try answer(source, .p3, format) { $0.quality = format.hasQuality ? 95 : nil }
        let (image, isDisplayP3) = try read(file)
        #expect(isDisplayP3)
        let pixel = image.pixel(x: 30, y: 8)
        #expect(SeenColor(pixel, in: .p3).difference(from: SeenColor([0, 255, 0], in: .p3)) < 1.5, "\(pixel)")
        #expect(ColorProfile.displayP3File.count <= 600)
        if format != .avif, format != .jxl, format != .png {
            let bytes = file.array
            let name = Array("acsp".utf8)
            #expect(bytes.indices.dropLast(4).contains { bytes[$0..<$0 + 4].elementsEqual(name) })
        }
        // An sRGB result has the same colors in all formats.
        let (mapped, _) = try read(answer(source, .srgb, format) { $0.quality = format.hasQuality ? 95 : nil })
        let expected = try read(answer(source, .srgb)).image.pixel(x: 30, y: 8)
        let shown = SeenColor(mapped.pixel(x: 30, y: 8), in: .srgb)
        #expect(shown.difference(from: SeenColor(expected, in: .srgb)) < 2, "\(mapped.pixel(x: 30, y: 8))")
    }

    @Test func `GIF is sRGB, and gray has no gamut`() throws {
        #expect(try !read(answer(Self.file, .p3, .gif)).isDisplayP3)
        let gray = SharedBytes(
            PNGWriter(width: 32, height: 32, colorType: .gray).file { x, _ in [x * 8] })
        for format in [ImageFormat.png, .jpeg] {
            #expect(try answer(gray, .p3, format).array == answer(gray, .srgb, format).array)
        }
        // Also if the colors are converted to gray.
        let (image, isDisplayP3) = try read(answer(Self.file, .p3, .jpeg) { $0.operations[.grayscale] = 100 })
        #expect(isDisplayP3 && image.bands == 3)
    }

    @Test func `auto counts the visible pixels outside sRGB`() throws {
        func colors(_ wide: Int) -> SharedBytes {
            var writer = PNGWriter(width: 100, height: 100, colorType: .rgb)
            writer.chunks = [("iCCP", Array("wide\0\0".utf8) + Zlib.stored(Self.profile))]
            return SharedBytes(writer.file { x, y in y * 100 + x < wide ? [0, 255, 0] : [120, 130, 140] })
        }
        for (count, gamut) in [(10, Gamut.srgb), (11, .p3)] {
            let auto = try answer(colors(count), .auto)
            #expect(try auto.array == answer(colors(count), gamut).array, "\(count) pixels")
        }
        // Cropped pixels do not count.
        let rest = try answer(colors(50), .auto) { $0.operations.crop = .pixels(x: 0, y: 1, width: 100, height: 99) }
        #expect(try !read(rest).isDisplayP3)
        // Colors of sRGB in Display P3 coordinates count as inside sRGB despite rounding.
        let primaries: [[UInt8]] = [[234, 51, 35], [117, 251, 76], [0, 0, 245], [255, 255, 84], [117, 251, 253]]
        #expect(try !read(answer(Self.png(primaries, profile: Self.profile), .auto)).isDisplayP3)
    }

    @Test func `a photograph is decoded to planes, and converted after the resample`() throws {
        let photo = ImageFixture.photo(width: 640, height: 480).array
        let source = SharedBytes(JPEGWriter.profiled(photo, Self.profile))
        let decoded = try ImageDecoder.decode(
            source, header: .inspect(source), plan: DecodePlan(level: 2), limits: .none, token: WorkToken())
        #expect(decoded.isPlanar)
        func small(_ file: SharedBytes, _ gamut: Gamut) throws -> SharedBytes {
            try answer(file, gamut, .jpeg) { $0.width = 160 }
        }
        // Display P3 samples are kept: the file equals the sRGB file except for its profile.
        let plain = try small(SharedBytes(photo), .srgb).array
        let wide = try small(source, .p3).array
        #expect(wide.count == plain.count + ColorProfile.displayP3File.count + 18)
        #expect(Array(wide.suffix(plain.count - 20)) == Array(plain.suffix(plain.count - 20)))
        // Both lanes agree on sRGB.
        var options = RenderingOptions()
        (options.width, options.gamut, options.quality) = (160, .srgb, 95)
        let planes = try read(thumbnail(source, options, .jpeg).bytes).image
        let header = try ImageHeader.inspect(source)
        let plan = try RenderPlan(options: options, format: .png, source: header, limits: ImagingLimits())
        let pixels = try read(
            ImageRenderer.render(
                ImageDecoder.decode(
                    source, header: header, plan: plan.decode, limits: .none, token: WorkToken(), lane: .vips),
                plan: plan, token: WorkToken()
            ).bytes
        ).image
        var sum = 0
        for y in stride(from: 0, to: 120, by: 7) {
            for x in stride(from: 0, to: 160, by: 7) {
                sum += zip(planes.pixel(x: x, y: y), pixels.pixel(x: x, y: y)).reduce(0) {
                    $0 + abs(Int($1.0) - Int($1.1))
                }
            }
        }
        #expect(sum < 18 * 23 * 3 * 3, "\(sum)")
    }

    @Test(arguments: [Gamut.srgb, .p3])
    func `backgrounds and watermarks are in sRGB`(gamut: Gamut) throws {
        let file = try answer(Self.file, gamut) {
            $0.operations.pad = ImageOperations.Margins(top: 10, right: 10, bottom: 10, left: 10)
            $0.background = Color(red: 255, green: 128, blue: 0)
        }
        let (image, isDisplayP3) = try read(file)
        let pixel = image.pixel(x: 3, y: 3)
        let expected = SeenColor([255, 128, 0], in: .srgb)
        #expect(SeenColor(pixel, in: isDisplayP3 ? .p3 : .srgb).difference(from: expected) < 1, "\(pixel)")
    }

    @Test func `filters operate on sRGB colors in any gamut`() throws {
        func shown(_ gamut: Gamut, _ file: SharedBytes) throws -> [SeenColor] {
            let (image, isDisplayP3) = try read(answer(file, gamut) { $0.operations[.saturation] = 150 })
            #expect(isDisplayP3 == (gamut == .p3))
            return squares(image).map { SeenColor($0, in: isDisplayP3 ? .p3 : .srgb) }
        }
        for file in [Self.file, Self.png(Self.colors, profile: nil)] {
            for (one, other) in try zip(shown(.srgb, file), shown(.p3, file)) {
                #expect(one.difference(from: other) < 1)
            }
        }
    }

    @Test func `a trim finds the same border in each gamut`() throws {
        var writer = PNGWriter(width: 60, height: 60, colorType: .rgb)
        writer.chunks = [("iCCP", Array("wide\0\0".utf8) + Zlib.stored(Self.profile))]
        // sRGB's red in Display P3 coordinates.
        let file = SharedBytes(writer.file { x, y in 20..<40 ~= x && 20..<40 ~= y ? [0, 255, 0] : [234, 51, 35] })
        for gamut in Gamut.allCases {
            let image = try read(
                answer(file, gamut) {
                    $0.operations.trim = ImageOperations.Trim(
                        tolerance: 8, color: Color(red: 255, green: 0, blue: 0))
                }
            ).image
            #expect(image.size == PixelSize(width: 20, height: 20))
        }
    }

    @Test func `wider sources fill Display P3`() throws {
        // BT.2020 declared by code points.
        var writer = PNGWriter(width: Self.colors.count * Self.side, height: 16, colorType: .rgb)
        writer.chunks = [("cICP", [9, 13, 0, 1])]
        let file = SharedBytes(writer.file { x, _ in Self.colors[x / Self.side].map(Int.init) })
        let (image, isDisplayP3) = try read(answer(file, .p3))
        #expect(isDisplayP3)
        var inside = 0
        for (color, shown) in zip(Self.colors, squares(image)) {
            let (before, after) = (SeenColor(color, in: .rec2020), SeenColor(shown, in: .p3))
            if before.difference(from: after) < 1 { inside += 1 }
            if after.chroma > 20, after.lightness > 20 {
                #expect(before.hueDifference(from: after) < 2, "\(color) becomes \(shown)")
            }
        }
        #expect(inside > 80, "\(inside)")
    }

    @Test func `the key of a result includes its gamut if it matters`() throws {
        func texts(_ file: SharedBytes, _ gamut: Gamut) throws -> [String] {
            var options = RenderingOptions()
            options.gamut = gamut
            return try RenderPlan(options: options, format: .png, source: .inspect(file), limits: ImagingLimits())
                .keyTexts
        }
        let plain = Self.png(Self.colors, profile: nil)
        #expect(try texts(plain, .srgb) == texts(plain, .auto))
        #expect(try texts(plain, .p3) == texts(plain, .srgb) + ["gamut p3"])
        #expect(try texts(plain, .srgb)[0] == "page 0 level 1 refuse")
        // The key contains `mapped` for results that map colors outside the gamut.
        #expect(try texts(Self.file, .srgb)[0] == "page 0 level 1 refuse mapped")
        #expect(try texts(Self.file, .p3)[0] == texts(Self.file, .srgb)[0])
        #expect(try texts(Self.file, .auto).last == "gamut auto")
    }

    @Test(arguments: [false, true])
    func `a color is converted the same alone and among others`(isHostile: Bool) throws {
        let primaries = isHostile ? [[2, -1, 0], [-1, 3, -1], [0, -1, 2]] : Self.wide
        let profile = try #require(ColorProfile(SharedBytes(ICCWriter.profile(primaries: primaries))))
        let conversion = try #require(GamutConversion(from: profile, toDisplayP3: false))
        let size = PixelSize(width: Self.colors.count, height: 3)
        // Rows that begin with different colors, and a row of runs.
        let rows = [Self.colors, Self.colors.reversed(), Self.colors.indices.map { Self.colors[$0 / 9 * 9] }]
        let image = DecodedImage(
            pixels: SharedBytes(rows.flatMap { $0.flatMap { $0 } }), size: size, bands: 3, profile: profile)
        let converted = try image.converted(by: conversion, token: WorkToken())
        for (y, row) in rows.enumerated() {
            for (x, color) in row.enumerated() {
                let alone = conversion.color(Color(red: color[0], green: color[1], blue: color[2]))
                #expect(converted.pixel(x: x, y: y) == [alone.red, alone.green, alone.blue], "\(color)")
            }
        }
    }

    @Test func `the cost of a conversion assumes that all colors are outside`() throws {
        func cost(_ file: SharedBytes) throws -> Duration {
            let header = try ImageHeader.inspect(file)
            var options = RenderingOptions()
            options.gamut = .srgb
            return try RenderPlan(options: options, format: .png, source: header, limits: ImagingLimits())
                .timeCost(of: header)
        }
        let pixels = Self.colors.count * Self.side * 16
        let difference = try cost(Self.file) - cost(Self.png(Self.colors, profile: nil))
        #expect(difference == .nanoseconds(65 * pixels))
    }

    @Test func `hostile numbers are harmless`() throws {
        let numbers: [[[Double]]] = [
            [[0, 0, 0], [0, 0, 0], [0, 0, 0]], [[32_000, -32_000, 32_000], [-32_000, 1, 5], [3, 32_000, -32_000]],
        ]
        for primaries in numbers {
            let source = Self.png(Self.colors, profile: ICCWriter.profile(primaries: primaries))
            for gamut in Gamut.allCases {
                let file = try answer(source, gamut)
                #expect(try read(file).image.size.width == Self.colors.count * Self.side)
            }
        }
    }
}
