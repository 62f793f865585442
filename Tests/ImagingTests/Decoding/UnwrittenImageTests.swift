import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Formats that are only read, and JPEG XL.
@Suite(.timeLimit(.minutes(1)))
struct UnwrittenImageTests {
    private func decode(_ file: [UInt8], _ plan: DecodePlan = DecodePlan()) throws -> DecodedImage {
        try ImageLibrary.start()
        let bytes = SharedBytes(file)
        return try ImageDecoder.decode(
            bytes, header: .inspect(bytes), plan: plan, limits: .none, token: WorkToken())
    }

    @Test(arguments: UnwrittenImages.all.map(\.name))
    func `the quarters are upright and have their colors`(name: String) throws {
        let sample = try #require(UnwrittenImages.all.first { $0.name == name })
        for level in [1, 2, 4] {
            let image = try decode(sample.file, DecodePlan(level: level))
            let (width, height) = (64 / level, 48 / level)
            #expect(image.size == PixelSize(width: width, height: height))
            let alpha = image.hasAlpha ? [255] : []
            #expect(image.isClose(x: 1, y: 1, to: [255, 0, 0] + alpha, tolerance: 1))
            #expect(image.isClose(x: width - 2, y: 1, to: [0, 255, 0] + alpha, tolerance: 1))
            #expect(image.isClose(x: 1, y: height - 2, to: [0, 0, 255] + alpha, tolerance: 1))
            let white = [255, 255, 255] + (name.contains("alpha") ? [128] : alpha)
            #expect(image.isClose(x: width - 2, y: height - 2, to: white, tolerance: 1))
        }
    }

    @Test func `one bit has two colors`() throws {
        let image = try decode(BMPWriter(.one).file(PixelSize(width: 33, height: 5)) { x, _ in x % 2 })
        #expect(image.pixel(x: 31, y: 4) == [0, 255, 0] && image.pixel(x: 32, y: 0) == [255, 0, 0])
    }

    @Test(arguments: BMPWriter.Coding.allCases)
    func `a bitmap without all rows is rejected, or the available ones are shown`(coding: BMPWriter.Coding) throws {
        let whole = BMPWriter(coding).file(PixelSize(width: 40, height: 20)) { x, y in (x + y) % 2 }
        let data = try decode(whole).pixels.array
        let cut = Array(whole.dropLast((whole.count - 150) / 2))
        #expect(throws: ImagingError.self) { try decode(cut) }
        let image = try decode(cut, DecodePlan(incompleteImages: .serve))
        #expect(image.isIncomplete && image.pixels.array.suffix(120) == data.suffix(120))
    }

    @Test func `a corrupted bitmap is harmless`() {
        for coding in BMPWriter.Coding.allCases {
            let file = BMPWriter(coding).file(PixelSize(width: 9, height: 7)) { x, y in (x ^ y) % 2 }
            for index in file.indices {
                for byte in [0, 1, 2, 0x80, 0xFF] as [UInt8] {
                    var changed = file
                    changed[index] = byte
                    guard let header = try? ImageHeader.inspect(SharedBytes(changed)), header.storedSize.area < 1 << 16
                    else {
                        continue
                    }
                    _ = try? decode(changed, DecodePlan(incompleteImages: .serve))
                }
            }
        }
    }

    @Test func `each page of a document is decoded at its own size`() throws {
        let sizes = [PixelSize(width: 30, height: 20), PixelSize(width: 11, height: 40)]
        let colors = [[200, 10, 10], [10, 10, 200]]
        let pages = zip(sizes, colors).map { size, color in TIFFWriter.Page(size) { _, _ in color } }
        let file = TIFFWriter(pages).file
        for index in 0...1 {
            let image = try decode(file, DecodePlan(page: index))
            #expect(image.size == sizes[index] && image.isClose(x: 5, y: 5, to: colors[index], tolerance: 0))
        }
        #expect(throws: ImagingError.noSuchPage(2, pages: 2)) { try decode(file, DecodePlan(page: 2)) }
    }

    @Test func `inks, transparency and gray of a document`() throws {
        let size = PixelSize(width: 20, height: 20)
        var inks = TIFFWriter.Page(size) { _, _ in [0, 0, 0, 0] }
        (inks.kind, inks.samples) = (.cmyk, 4)
        let paper = try decode(TIFFWriter([inks]).file)
        #expect(paper.bands == 3 && paper.pixel(x: 9, y: 9).allSatisfy { $0 > 240 })
        var veil = TIFFWriter.Page(size) { _, _ in [200, 100, 50, 128] }
        veil.samples = 4
        #expect(try decode(TIFFWriter([veil]).file).isClose(x: 9, y: 9, to: [200, 100, 50, 128], tolerance: 0))
        var fax = TIFFWriter.Page(size) { x, _ in [x < 10 ? 1 : 0] }
        (fax.kind, fax.samples, fax.bits) = (.whiteIsZero, 1, 1)
        let image = try decode(TIFFWriter([fax]).file)
        #expect(image.bands == 1 && image.pixel(x: 2, y: 2) == [0] && image.pixel(x: 12, y: 2) == [255])
    }

    @Test func `runs that never end stop in time`() async throws {
        // Escapes that move by zero pixels.
        let head = BMPWriter(.runs8).file(PixelSize(width: 9, height: 2)) { _, _ in 0 }
        let start = Int(head[10]) | Int(head[11]) << 8
        let file = Array(head[..<start]) + [[UInt8]](repeating: [0, 2, 0, 0], count: 3_000_000).joined()
        let bytes = SharedBytes(file)
        let header = try ImageHeader.inspect(bytes)
        let pool = WorkerPool(count: 1, maximumQueued: 1, name: "test")
        defer { pool.shutDown() }
        // Other work on the machine could make the first decode seem longer than the second one.
        let whole = try await pool.run { token in
            let start = threadTime
            let plan = DecodePlan(incompleteImages: .serve)
            _ = try ImageDecoder.decode(bytes, header: header, plan: plan, limits: .none, token: token)
            return threadTime - start
        }
        await #expect(throws: DeadlineExceeded.self) {
            try await pool.run(timeLimit: whole / 10) { token in
                let plan = DecodePlan(incompleteImages: .serve)
                _ = try ImageDecoder.decode(bytes, header: header, plan: plan, limits: .none, token: token)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4])
    func `JPEG XL preserves colors and transparency`(bands: Int) throws {
        let color = [UInt8]([200, 100, 50, 128].suffix(bands))
        let image = SampleImage.plain(PixelSize(width: 50, height: 40), color)
        let decoded = try decode(ImageFixture.file(image, as: .jxl, quality: 95))
        #expect(decoded.size == image.size && decoded.isClose(x: 20, y: 20, to: color.map(Int.init), tolerance: 4))
    }

    @Test func `a truncated JPEG XL is rejected, or coarse`() throws {
        let file = ImageFixture.photo(width: 600, height: 500, format: .jxl).array
        let cut = Array(file.prefix(file.count * 4 / 5))
        #expect(throws: ImagingError.self) { try decode(cut) }
        let image = try decode(cut, DecodePlan(incompleteImages: .serve))
        #expect(image.isIncomplete && image.size == PixelSize(width: 600, height: 500))
        #expect(throws: ImagingError.self) { try decode(Array(file.prefix(40)), DecodePlan(incompleteImages: .serve)) }
    }
}
