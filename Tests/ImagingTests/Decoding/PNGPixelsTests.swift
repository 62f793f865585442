import CZlib
import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Our PNG decoder compared with libvips and libpng.
@Suite(.timeLimit(.minutes(3)))
struct PNGPixelsTests {
    private static let kinds: [(PNGWriter.ColorType, depth: Int)] = [
        (.gray, 1), (.gray, 2), (.gray, 4), (.gray, 8), (.gray, 16), (.rgb, 8), (.rgb, 16), (.palette, 1),
        (.palette, 2), (.palette, 4), (.palette, 8), (.grayAlpha, 8), (.grayAlpha, 16), (.rgba, 8), (.rgba, 16),
    ]
    private static let sizes = [(1, 1), (2, 3), (1, 20), (37, 1), (3, 9), (9, 16), (33, 18), (131, 45)]

    @Test(arguments: kinds.indices, [false, true])
    func `images of all kinds and sizes are the same`(kind: Int, isInterlaced: Bool) throws {
        let (type, depth) = Self.kinds[kind]
        var seed: UInt64 = 0
        for (width, height) in Self.sizes {
            for hasTransparency in type == .grayAlpha || type == .rgba ? [false] : [false, true] {
                for content in [ReferencePNG.Content.noise, .residuals, .runs] {
                    seed += 1
                    var image = ReferencePNG(type, depth: depth, width, height)
                    image.writer.isInterlaced = isInterlaced
                    if hasTransparency { image.writer.transparency = Self.transparency(type, depth) }
                    (image.content, image.seed) = (content, seed)
                    try expectSame(image)
                }
            }
        }
    }

    /// A transparent color, or the alpha of palette entries.
    private static func transparency(_ type: PNGWriter.ColorType, _ depth: Int) -> [UInt8] {
        switch type {
        case .palette: [0, 100]
        case .gray: [0xFF, depth == 16 ? 0 : 0xFE]
        default: [0, 3, 1, 3, 0, 3]
        }
    }

    @Test(arguments: [UInt8?](arrayLiteral: 0, 1, 2, 3, 4, nil))
    func `every filter of rows is reversed`(filter: UInt8?) throws {
        for (type, depth) in Self.kinds {
            for width in [1, 2, 3, 4, 5, 100] {
                for content in [ReferencePNG.Content.noise, .residuals] {
                    var image = ReferencePNG(type, depth: depth, width, 9)
                    (image.filter, image.content) = (filter, content)
                    image.seed = UInt64(width)
                    try expectSame(image)
                }
            }
        }
    }

    @Test(arguments: ReferencePNG.Content.allCases)
    func `every kind of compressed block is read`(content: ReferencePNG.Content) throws {
        let strategies = [Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED]
        var seed: UInt64 = 100
        for level in [0, 1, 6, 9] as [Int32] {
            for strategy in strategies {
                for (blockRows, flush) in [(0, Z_BLOCK), (3, Z_BLOCK), (2, Z_FULL_FLUSH), (1, Z_PARTIAL_FLUSH)] {
                    seed += 1
                    var image = ReferencePNG(.rgb, 90, 40)
                    image.compression = ReferencePNG.Compression(
                        level: level, strategy: strategy, blockRows: blockRows, flush: flush)
                    (image.content, image.seed) = (content, seed)
                    try expectSame(image, levels: [1, 4])
                }
            }
        }
    }

    @Test(arguments: 9...15 as ClosedRange<Int32>)
    func `matches reach back to the window's end`(window: Int32) throws {
        for content in ReferencePNG.Content.allCases {
            var image = ReferencePNG(.rgba, 211, 150)
            image.content = content
            image.compression.window = window
            try expectSame(image, levels: [1, 8])
        }
    }

    @Test func `an image of many portions is the same`() throws {
        for (content, isInterlaced) in [(ReferencePNG.Content.far, false), (.near, true), (.residuals, false)] {
            var image = ReferencePNG(.rgb, 701, 450)
            image.writer.isInterlaced = isInterlaced
            image.content = content
            #expect(image.writer.rowSizes.reduce(0, +) > 7 * 128 << 10)
            try expectSame(image)
        }
    }

    @Test func `a row may be longer than a portion`() throws {
        for depth in [8, 16] {
            var image = ReferencePNG(.rgba, depth: depth, 40_000, 5)
            image.content = .far
            try expectSame(image)
        }
    }

    @Test func `data may be split into chunks anywhere`() throws {
        for size in Array(1...80) + [100, 1_000, 8_192, 40_000] {
            var image = ReferencePNG(.rgb, 60, 70)
            image.writer.rowsChunk = size
            image.content = size % 2 == 0 ? .noise : .near
            try expectSame(image, levels: [2])
        }
    }

    @Test(arguments: 1...8)
    func `an image is rotated, and its colors are converted, as before`(orientation: Int) throws {
        let profile = (type: "iCCP", data: Array("p\0\0".utf8) + Zlib.stored(ICCWriter.profile(curve: .gamma(460))))
        let chunks: [[(type: String, data: [UInt8])]] = [
            [], [profile], [("cICP", [12, 13, 0, 1])], [("cICP", [9, 16, 0, 1])], [("gAMA", [0, 0, 0x80, 0])],
            [
                ("gAMA", 55_000.bigEndian32),
                ("cHRM", [31_270, 32_900, 64_000, 33_000, 21_000, 71_000, 15_000, 6_000].flatMap(\.bigEndian32)),
            ],
        ]
        for (type, depth) in [(.rgb, 8), (.rgba, 16), (.gray, 8), (.palette, 4)] as [(PNGWriter.ColorType, Int)] {
            for chunks in chunks {
                var image = ReferencePNG(type, depth: depth, 30, 21)
                image.writer.orientation = orientation
                image.writer.chunks = chunks
                let isHDR = type != .gray && chunks.first?.data == [9, 16, 0, 1]
                for level in [1, 2, 4] {
                    let plan = DecodePlan(level: level)
                    #expect(try (ReferencePNG.quick(image.file, plan) == nil) == isHDR)
                    try expectSameAnswers(image.file, plan)
                }
            }
        }
    }

    @Test func `a wrong checksum of the rows is not damage`() throws {
        var image = ReferencePNG(.rgb, 20, 20)
        image.seed = 3
        var data = image.deflated()
        data[data.count - 1] ^= 1
        let file = SharedBytes(image.writer.file(deflated: data))
        #expect(try ReferencePNG.quick(file, DecodePlan()) != nil)
        try expectSameAnswers(file, DecodePlan())
    }

    @Test func `data after the last row is not read`() throws {
        for isInterlaced in [false, true] {
            var image = ReferencePNG(.rgb, 20, 20)
            image.writer.isInterlaced = isInterlaced
            var more = image
            more.writer.height += 1
            let surplus = Zlib.zeros(100 << 20)
            var streams = [image.deflated() + [0], Array(image.deflated().dropLast(4)), surplus]
            // The passes of a taller image have other rows.
            if !isInterlaced { streams.append(more.deflated()) }
            for stream in streams {
                for size in [Int.max, 8_192, 100] {
                    image.writer.rowsChunk = size
                    let file = SharedBytes(image.writer.file(deflated: stream))
                    #expect(try ReferencePNG.quick(file, DecodePlan()) != nil)
                    if stream.count < 10_000 { try expectSameAnswers(file, DecodePlan(level: 2)) }
                }
            }
        }
    }

    @Test func `data after the last row costs libpng no time`() throws {
        let surplus = Zlib.zeros(400 << 20)
        var bright = PNGWriter(width: 100, height: 100, colorType: .rgb)
        bright.chunks = [("cICP", [9, 16, 0, 1])]
        var gray = PNGWriter(width: 100, height: 100, colorType: .gray)
        gray.palette = [1, 2, 3]
        var animated = PNGWriter(width: 100, height: 100, colorType: .rgb)
        let control = [100, 100, 0, 0].flatMap(\.bigEndian32) + [0, 1, 0, 10, 0, 0]
        animated.chunks = [("acTL", 2.bigEndian32 + 0.bigEndian32), ("fcTL", 0.bigEndian32 + control)]
        animated.laterChunks = [("fcTL", 1.bigEndian32 + control), ("fdAT", 2.bigEndian32 + surplus)]
        let plain = PNGWriter(width: 100, height: 100, colorType: .rgb)
        for (writer, isAnimated) in [(plain, false), (bright, false), (gray, false), (animated, true)] {
            let file = SharedBytes(writer.file(deflated: surplus))
            let start = threadTime
            let image = try Judgement.decode(file, DecodePlan(isAnimated: isAnimated), lane: .planar)
            #expect(image.frames == (isAnimated ? 2 : 1))
            #expect(threadTime - start < .milliseconds(100))
        }
    }

    @Test func `unusual or invalid files are decoded by libvips`() throws {
        let image = ReferencePNG(.rgb, 20, 20)
        let whole = image.file.array
        var other = image
        other.writer.chunks = [("ABCD", [1])]
        var gray = ReferencePNG(.gray, 20, 20)
        gray.writer.palette = [1, 2, 3]
        var late = image
        late.writer.laterChunks = [("gAMA", [0, 0, 0, 1]), ("IDAT", [])]
        var small = ReferencePNG(.palette, depth: 2, 20, 20)
        small.writer.transparency = [1, 2, 3, 4, 5]
        var bare = small
        bare.writer.palette = []
        var more = image
        more.writer.height += 1
        let tooFew = more.writer.file(deflated: image.deflated())
        let files = [
            other.file.array, gray.file.array, late.file.array, small.file.array, bare.file.array, tooFew,
            whole.dropLast(), whole.dropLast(12), Array(whole[..<33]) + whole[33...].map { $0 ^ 1 },
        ]
        for (index, file) in files.enumerated() where (try? ImageHeader.inspect(SharedBytes(file))) != nil {
            #expect(try ReferencePNG.quick(SharedBytes(file), DecodePlan()) == nil, "file \(index)")
            for incomplete in IncompleteImages.allCases {
                try expectSameAnswers(SharedBytes(file), DecodePlan(level: 2, incompleteImages: incomplete))
            }
        }
    }

    @Test(arguments: [(PNGWriter.ColorType.rgb, false), (.palette, false), (.gray, true)])
    func `a truncated or corrupted file has libvips' result`(type: PNGWriter.ColorType, isInterlaced: Bool) throws {
        var image = ReferencePNG(type, 12, 9)
        image.writer.isInterlaced = isInterlaced
        let file = image.file.array
        for count in 33..<file.count {
            try expectSameAnswers(
                SharedBytes(file.prefix(count)), DecodePlan(incompleteImages: count % 2 == 0 ? .serve : .reject))
        }
        for place in 0..<file.count {
            var changed = file
            changed[place] ^= 1 << UInt8(place % 8)
            try expectSameAnswers(SharedBytes(changed), DecodePlan(incompleteImages: .serve))
        }
    }

    @Test(arguments: 0..<4)
    func `damaged data with valid checksums have libvips' result`(kind: Int) throws {
        var image = ReferencePNG(.rgb, 24, 20)
        image.content = [.residuals, .near, .noise, .runs][kind]
        image.compression.strategy = kind == 2 ? Z_FIXED : Z_DEFAULT_STRATEGY
        let data = image.deflated()
        for place in 0..<min(data.count, 400) {
            for bit in [place % 8, (place + 3) % 8] {
                var changed = data
                changed[place] ^= 1 << UInt8(bit)
                let file = SharedBytes(image.writer.file(deflated: changed))
                try expectSameAnswers(file, DecodePlan(level: 2, incompleteImages: .serve))
            }
        }
    }

    @Test func `a stop ends a running decode`() throws {
        var image = ReferencePNG(.rgb, 200, 200)
        image.content = .noise
        let file = image.file
        let token = WorkToken()
        #expect(throws: CancellationError.self) {
            try PNGPixels.decode(
                file, header: .inspect(file), plan: DecodePlan(), token: token,
                allocate: { count in
                    token.cancel()
                    return try PlaneMemory(count: count)
                })
        }
    }

    /// Requires that our decoder accepts the image and returns libvips' pixels.
    private func expectSame(
        _ image: ReferencePNG, levels: [Int] = [1, 2, 4, 8], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let file = image.file
        for level in levels {
            let plan = DecodePlan(level: level)
            let quick = try ReferencePNG.quick(file, plan)
            let slow = try Judgement.decode(file, plan, lane: .vips)
            let isSame = quick?.pixels.array == slow.pixels.array && quick?.bands == slow.bands
            #expect(isSame, "\(image), level \(level)", sourceLocation: sourceLocation)
        }
    }

    /// Requires that both lanes reject the file for the same reason, or return the same pixels.
    private func expectSameAnswers(
        _ file: SharedBytes, _ plan: DecodePlan, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try answer(file, plan, .planar) == answer(file, plan, .vips), sourceLocation: sourceLocation)
    }

    private enum Answer: Equatable {
        case pixels([UInt8], bands: Int, isIncomplete: Bool)
        case undecodable
        case rejected(ImagingError)
    }

    private func answer(_ file: SharedBytes, _ plan: DecodePlan, _ lane: ImageDecoder.Lane) throws -> Answer {
        do {
            let image = try Judgement.decode(file, plan, lane: lane)
            return .pixels(image.pixels.array, bands: image.bands, isIncomplete: image.isIncomplete)
        } catch ImagingError.cannotDecode {
            return .undecodable
        } catch let error as ImagingError {
            return .rejected(error)
        }
    }
}
