import Imaging
import Recipes
import TestSupport
import Testing

struct TIFFHeaderTests {
    private let size = PixelSize(width: 40, height: 30)

    private func page(_ change: (inout TIFFWriter.Page) -> Void = { _ in }) -> TIFFWriter.Page {
        var page = TIFFWriter.Page(size) { _, _ in [1, 2, 3] }
        change(&page)
        if page.samples != 3 { page.pixel = { [samples = page.samples] _, _ in [Int](repeating: 1, count: samples) } }
        return page
    }

    @Test(arguments: [false, true], [false, true])
    func `the first page's size, depth and orientation`(isLittleEndian: Bool, isBig: Bool) throws {
        var writer = TIFFWriter([page { ($0.orientation, $0.bits) = (6, 16) }])
        (writer.isLittleEndian, writer.isBig) = (isLittleEndian, isBig)
        let expected = ImageHeader(format: .tiff, storedSize: size, orientation: 6, bands: 3, bitDepth: 16)
        #expect(try inspect(writer.file) == expected)
    }

    @Test(arguments: [
        (TIFFWriter.Kind.whiteIsZero, 1, 1, 1, false), (.blackIsZero, 1, 8, 1, false), (.blackIsZero, 2, 8, 2, true),
        (.rgb, 3, 8, 3, false), (.rgb, 4, 8, 4, true), (.palette, 1, 4, 3, false), (.palette, 1, 8, 3, false),
        (.cmyk, 4, 8, 4, false), (.cmyk, 5, 8, 4, true),
    ])
    func `samples and kind determine the bands`(
        kind: TIFFWriter.Kind, samples: Int, bits: Int, bands: Int, hasAlpha: Bool
    ) throws {
        let file = TIFFWriter([page { ($0.kind, $0.samples, $0.bits) = (kind, samples, bits) }]).file
        let header = try inspect(file)
        #expect(header.bands == bands && header.hasAlpha == hasAlpha && header.bitDepth == 8)
    }

    @Test func `pages of one size are one header, others have their own`() throws {
        let same = try inspect(TIFFWriter([page(), page(), page()]).file)
        #expect(same.frames == 3 && same.pages.isEmpty && same.page(2) == same)
        let small = PixelSize(width: 7, height: 5)
        let mixed = try inspect(
            TIFFWriter([page(), page { ($0.size, $0.orientation) = (small, 8) }, page { $0.compression = 6 }]).file)
        #expect(mixed.frames == 3 && mixed.size == size)
        #expect(mixed.page(1).size == PixelSize(width: 5, height: 7) && mixed.page(0).size == size)
        // An unsupported page reports a placeholder size.
        #expect(mixed.page(2).size == PixelSize(width: 1, height: 1))
        #expect(mixed.decoded(by: DecodePlan(page: 1)).decoded(by: DecodePlan(page: 1)).storedSize == small)
        #expect(mixed.cost(of: DecodePlan(page: 1)) < mixed.cost(of: DecodePlan()))
        #expect(mixed.maximumPixelBytes(of: DecodePlan(page: 1)) < mixed.maximumPixelBytes(of: DecodePlan()))
    }

    @Test func `a render is planned for its page`() throws {
        let wide = PixelSize(width: 60, height: 20)
        let header = try inspect(TIFFWriter([page(), page { $0.size = wide }]).file)
        var limits = ImagingLimits()
        limits.sourceFormats.insert(.tiff)
        for (number, expected) in [(0, PixelSize(width: 20, height: 15)), (1, PixelSize(width: 20, height: 7))] {
            let plan = try RenderPlan(
                options: options(20, nil) { $0.page = number }, format: .png, source: header, limits: limits)
            #expect(plan.outputSize == expected && plan.decode.page == number)
        }
        #expect(throws: ImagingError.noSuchPage(2, pages: 2)) {
            try RenderPlan(options: options(20, nil) { $0.page = 2 }, format: .png, source: header, limits: limits)
        }
    }

    @Test func `unsupported kinds are rejected`() {
        let changes: [(inout TIFFWriter.Page) -> Void] = [
            { $0.compression = 9 }, { $0.bits = 12 }, { $0.samples = 1 }, { $0.samples = 5 }, { $0.size.width = 0 },
            { ($0.kind, $0.samples) = (.lab, 4) },
        ]
        for change in changes { #expect(isDamaged(TIFFWriter([page(change)]).file)) }
    }

    @Test func `cyclic and too many directories are rejected`() {
        var file = TIFFWriter([page()]).file
        // The last four bytes are the offset of the next directory.
        file.replaceSubrange(file.count - 4..<file.count, with: file[4..<8])
        #expect(isDamaged(file))
        let tiny = PixelSize(width: 1, height: 1)
        #expect(isDamaged(TIFFWriter([TIFFWriter.Page](repeating: page { $0.size = tiny }, count: 4_097)).file))
        #expect(!isDamaged(TIFFWriter([TIFFWriter.Page](repeating: page { $0.size = tiny }, count: 300)).file))
    }

    @Test func `a truncated or corrupted file is harmless`() {
        for isBig in [false, true] {
            var writer = TIFFWriter([page { $0.isTiled = true }, page { $0.orientation = 3 }])
            writer.isBig = isBig
            let file = writer.file
            for index in file.indices {
                _ = try? inspect(Array(file.prefix(index)))
                for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                    var changed = file
                    changed[index] = byte
                    _ = try? inspect(changed)
                }
            }
        }
    }
}
