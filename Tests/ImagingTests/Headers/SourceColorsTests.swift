import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Color spaces that headers of all formats declare.
struct SourceColorsTests {
    /// Primaries, white point and gamma as in profiles of cameras and editors.
    private static let spaces: [(SourceColors.Space, Chromaticities, ICCWriter.Curve)] = [
        (.srgb, .srgb, .standard), (.srgb, .srgb, .standardTable(1_024)), (.displayP3, .displayP3, .standard),
        (.adobeRGB, .adobeRGB, .gamma(563)), (.proPhoto, .proPhoto, .gamma(461)), (.rec2020, .rec2020, .gamma(614)),
        (.other, .displayP3, .gamma(256)), (.other, .adobeRGB, .standard),
    ]

    private static func profile(_ places: Chromaticities, _ curve: ICCWriter.Curve) -> [UInt8] {
        ICCWriter.profile(primaries: places.connectionPrimaries, curve: curve)
    }

    private static let jpeg = ImageFixture.file(.quarters(ImageFixture.size), as: .jpeg, quality: 95)

    @Test(arguments: spaces.indices)
    func `profiles are recognized by value in each format`(index: Int) throws {
        let (space, places, curve) = Self.spaces[index]
        let profile = Self.profile(places, curve)
        #expect(try inspect(JPEGWriter.profiled(Self.jpeg, profile)).colors == SourceColors(space))
        let chunk = PNGFile.chunk("iCCP", Array("name\0\0".utf8) + Zlib.stored(profile))
        #expect(try inspect(PNGFile(before: [chunk]).bytes).colors == SourceColors(space))
        let webp = ImageFixture.file(.quarters(ImageFixture.size), as: .webp, quality: 95)
        let profiled = WebPWriter.profiled(webp, width: 64, height: 48, hasAlpha: false, profile)
        #expect(try inspect(profiled).colors == SourceColors(space))
        var item = HEIFWriter.Item.coded(.quarters(ImageFixture.size))
        item.properties.append(HEIFBox.profile(profile))
        #expect(try inspect(HEIFWriter([item], primary: 1).file).colors == SourceColors(space))
    }

    @Test(arguments: [
        (UInt8(1), UInt8(13), SourceColors.Space.srgb, SourceColors.HDRFormat.none), (12, 13, .displayP3, .none),
        (9, 16, .rec2020, .pq), (12, 18, .displayP3, .hlg), (9, 1, .rec2020, .none),
    ])
    func `code points of AVIF are read, with the peak luminance`(
        primaries: UInt8, transfer: UInt8, space: SourceColors.Space, range: SourceColors.HDRFormat
    ) throws {
        var item = HEIFWriter.Item.coded(.quarters(ImageFixture.size))
        item.properties.removeAll { $0[4..<8].elementsEqual("colr".utf8) }
        item.properties += [
            HEIFBox.meaning(isFullRange: true, primaries: primaries, transfer: transfer),
            HEIFBox.box("clli", [2, 88, 0, 100]),
        ]
        let colors = try inspect(HEIFWriter([item], primary: 1).file).colors
        #expect(colors.space == space && colors.hdrFormat == range)
        if space != .srgb { #expect(colors.encoding?.peak == 600) }
        // A profile overrides code points.
        item.properties.append(HEIFBox.profile(Self.profile(.adobeRGB, .gamma(563))))
        #expect(try inspect(HEIFWriter([item], primary: 1).file).colors == SourceColors(.adobeRGB))
    }

    @Test func `Apple's gain map is recognized by its item`() throws {
        var map = HEIFWriter.Item.coded(.quarters(ImageFixture.size))
        (map.id, map.references) = (2, [("auxl", [1])])
        map.properties.append(HEIFBox.auxiliary("urn:com:apple:photo:2020:aux:hdrgainmap"))
        let file = HEIFWriter([.coded(.quarters(ImageFixture.size)), map], primary: 1).file
        #expect(try inspect(file).colors.hdrFormat == .gainMap)
    }

    @Test func `a page of TIFF has its profile`() throws {
        var page = TIFFWriter.Page(ImageFixture.size) { _, _ in [1, 2, 3] }
        page.profile = Self.profile(.adobeRGB, .gamma(563))
        #expect(try inspect(TIFFWriter([page]).file).colors.space == .adobeRGB)
    }

    @Test func `the published numbers of Display P3 and Adobe RGB match`() {
        func isClose(_ places: Chromaticities, _ expected: [[Double]]) -> Bool {
            zip(places.connectionPrimaries, expected).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) < 0.0003 } }
        }
        #expect(
            isClose(
                .displayP3, [[0.51512, 0.24120, -0.00105], [0.29198, 0.69225, 0.04189], [0.15710, 0.06657, 0.78407]]))
        #expect(
            isClose(
                .adobeRGB, [[0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457]]))
    }

    @Test func `gray and inks need no profile`() throws {
        #expect(try inspect(PNGFile(colorType: 0).bytes).colors == SourceColors(.gray))
        #expect(ImageHeader(format: .jpeg, storedSize: ImageFixture.size, bands: 4).colors == SourceColors(.cmyk))
        let ink = PNGFile.chunk("iCCP", Array("ink\0\0".utf8) + Zlib.stored(ICCWriter.inks))
        #expect(try inspect(PNGFile(before: [ink]).bytes).colors == SourceColors())
    }

    @Test func `code points precede a profile, a profile precedes sRGB, and sRGB precedes gamma`() throws {
        let p3 = PNGFile.chunk("cICP", [12, 13, 0, 1])
        let profile = PNGFile.chunk("iCCP", Array("a\0\0".utf8) + Zlib.stored(Self.profile(.adobeRGB, .gamma(563))))
        let standard = PNGFile.chunk("sRGB", [0])
        let wide = Self.chunks(gamma: 45_455, .displayP3)
        func space(_ chunks: [[UInt8]]) throws -> SourceColors.Space {
            try inspect(PNGFile(before: chunks).bytes).colors.space
        }
        #expect(try space([profile, p3, standard] + wide) == .displayP3)
        #expect(try space([standard, profile] + wide) == .adobeRGB)
        #expect(try space([standard] + wide) == .srgb)
        #expect(try space(Self.chunks(gamma: 45_470, .adobeRGB)) == .adobeRGB)
        #expect(try space([wide[0]]) == .srgb)
        #expect(try inspect(PNGFile(before: Self.chunks(gamma: 45_455, .srgb)).bytes).colors == SourceColors())
        let linear = Self.chunks(gamma: 100_000, .srgb)
        let encoding = try inspect(PNGFile(before: linear).bytes).colors.encoding
        #expect(try encoding != nil && inspect(PNGFile(before: [linear[0]]).bytes).colors.encoding == encoding)
        #expect(try inspect(PNGFile(before: [standard, linear[0]]).bytes).colors == SourceColors())
        let gray = try inspect(PNGFile(colorType: 0, before: [linear[0]]).bytes).colors
        #expect(gray.space == .gray && gray.encoding == encoding && SourceColors(numbers: gray.numbers) == gray)
    }

    /// The chunks `gAMA` and `cHRM`.
    private static func chunks(gamma: Int, _ places: Chromaticities) -> [[UInt8]] {
        var file = FileBytes()
        for number in places.numbers[6...] + places.numbers[..<6] { file.append(big: number, 4) }
        var power = FileBytes()
        power.append(big: gamma, 4)
        return [PNGFile.chunk("gAMA", power.bytes), PNGFile.chunk("cHRM", file.bytes)]
    }

    @Test(arguments: [(16, SourceColors.HDRFormat.pq), (18, .hlg)])
    func `light above white is detected, and its peak`(transfer: Int, range: SourceColors.HDRFormat) throws {
        var light = FileBytes()
        light.append(big: 6_000_000, 4)
        light.append(big: 1_000_000, 4)
        let file = PNGFile(
            depth: 16, before: [PNGFile.chunk("cICP", [9, UInt8(transfer), 0, 1]), PNGFile.chunk("cLLI", light.bytes)])
        let colors = try inspect(file.bytes).colors
        #expect(colors.space == .rec2020 && colors.hdrFormat == range && colors.encoding?.peak == 600)
        #expect(SourceColors(numbers: colors.numbers) == colors)
    }

    @Test func `impossible primaries are ignored`() throws {
        for numbers in [
            [Int](repeating: 0, count: 8), [64_000, 33_000, 64_000, 33_000, 15_000, 6_000, 31_270, 32_900],
        ] {
            #expect(Chromaticities(numbers) == nil)
        }
        #expect(Chromaticities([64_000, 33_000, 30_000, 60_000, 15_000, 6_000, 31_270, 1]) == nil)
    }

    @Test func `invalid numbers of colors are rejected`() {
        let numbers = SourceColors(primaries: 9, transfer: 16)?.numbers ?? []
        for (index, wrong) in [(0, 99), (1, -1), (2, 3), (3, 20_000), (11, 0)] {
            var other = numbers
            other[index] = wrong
            #expect(SourceColors(numbers: other) == nil)
        }
        #expect(SourceColors(numbers: Array(numbers.dropLast())) == nil)
    }

    @Test func `a gain map is recognized by its namespace or its ISO segment`() throws {
        let name = "http://ns.adobe.com/xap/1.0/\0<x xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/'>"
        let plain = "http://ns.adobe.com/xap/1.0/\0<x xmlns:a='http://ns.adobe.com/hdr/'>"
        #expect(try inspect(Self.jpeg(with: 0xE1, Array(name.utf8))).colors.hdrFormat == .gainMap)
        #expect(
            try inspect(Self.jpeg(with: 0xE2, Array("urn:iso:std:iso:ts:21496:-1\0\0".utf8))).colors.hdrFormat
                == .gainMap)
        #expect(try inspect(Self.jpeg(with: 0xE1, Array(plain.utf8))).colors.hdrFormat == .none)
    }

    private static func jpeg(with marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let file = jpeg
        let count = content.count + 2
        return file[..<2] + [0xFF, marker, UInt8(count >> 8), UInt8(count & 255)] + content + file[2...]
    }

    @Test(arguments: [
        (0xFFFF, "R03", SourceColors.Space.adobeRGB), (0xFFFF, "R98", .srgb), (1, "R03", .srgb), (2, "", .adobeRGB),
    ])
    func `cameras mark Adobe RGB in Exif`(number: Int, index: String, space: SourceColors.Space) throws {
        let file = Self.jpeg(with: 0xE1, Array("Exif\0\0".utf8) + Self.exif(space: number, index: index))
        let header = try inspect(file)
        #expect(header.colors.space == space)
        for lane in ImageDecoder.Lane.allCases {
            let image = try ImageDecoder.decode(
                SharedBytes(file), header: header, plan: DecodePlan(), limits: .none, token: WorkToken(), lane: lane)
            let pixels = try image.interleavedInSRGB(token: WorkToken())
            // Adobe RGB's full green is outside sRGB and is clipped; white is unchanged.
            #expect(pixels.isClose(x: 60, y: 44, to: [255, 255, 255]))
            #expect((header.colors.encoding != nil) == (space == .adobeRGB))
        }
    }

    /// EXIF data with an exposure directory and an interoperability directory.
    private static func exif(space: Int, index: String) -> [UInt8] {
        var file = FileBytes(text: "II*\0")
        file.append(little: 8, 4)
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) {
            file.append(little: tag, 2)
            file.append(little: type, 2)
            file.append(little: count, 4)
            file.append(little: value, 4)
        }
        file.append(little: 1, 2)
        entry(0x8769, 4, 1, 26)
        file.append(little: 0, 4)
        file.append(little: index.isEmpty ? 1 : 2, 2)
        entry(0xA001, 3, 1, space)
        if !index.isEmpty { entry(0xA005, 4, 1, 56) }
        file.append(little: 0, 4)
        guard !index.isEmpty else { return file.bytes }
        file.append(little: 1, 2)
        let text = Array(index.utf8)
        entry(1, 2, 4, Int(text[0]) | Int(text[1]) << 8 | Int(text[2]) << 16)
        file.append(little: 0, 4)
        return file.bytes
    }
}
