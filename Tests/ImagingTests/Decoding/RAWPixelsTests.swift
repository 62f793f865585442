import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// RAW photographs show their previews, upright and in the right colors.
@Suite(.timeLimit(.minutes(1)))
struct RAWPixelsTests {
    private static let quarters = ImageFixture.file(.quarters(PixelSize(width: 640, height: 480)), as: .jpeg)

    private func decode(
        _ file: [UInt8], level: Int = 1, lane: ImageDecoder.Lane = .planar, _ limits: ImagingLimits = .none
    ) throws -> DecodedImage {
        try ImageLibrary.start()
        let token = WorkToken()
        return try ImageDecoder.decode(
            SharedBytes(file), header: inspect(file), plan: DecodePlan(level: level), limits: limits, token: token,
            lane: lane
        ).interleavedInSRGB(token: token).convertedToSRGB(token: token)
    }

    private func marked(_ preview: [UInt8], orientation: Int) -> [UInt8] {
        preview.prefix(2) + JPEGSegments.exif(exif(orientation: orientation)) + preview.dropFirst(2)
    }

    @Test(arguments: RAWWriter.Kind.allCases, [1, 2, 8])
    func `a preview is rotated once, despite its own orientation`(kind: RAWWriter.Kind, level: Int) throws {
        for (own, orientation) in [(nil, 6), (6, 6), (3, 6), (6, 1)] as [(Int?, Int)] {
            var writer = RAWWriter(kind, own.map { marked(Self.quarters, orientation: $0) } ?? Self.quarters)
            writer.orientation = orientation
            // In Fujifilm's photographs only the preview has an orientation.
            let isTurned = (kind == .raf ? own ?? 1 : orientation) == 6
            for lane in ImageDecoder.Lane.allCases where kind != .raf || own != 3 {
                let image = try decode(writer.file, level: level, lane: lane)
                let size = PixelSize(width: 640 / level, height: 480 / level)
                #expect(image.size == (isTurned ? QuarterTurn(exif: 6)?.turned(size) : size))
                // The blue quarter moves from the bottom left to the top left.
                #expect(image.isClose(x: 9, y: 9, to: isTurned ? [0, 0, 255] : [255, 0, 0]))
            }
        }
    }

    @Test func `a preview costs as much as the same file alone, and is decoded at several levels`() throws {
        var writer = RAWWriter(.nef, Self.quarters)
        writer.gap = 1_000_000
        let (raw, jpeg) = (try inspect(writer.file), try inspect(Self.quarters))
        for level in [1, 8] {
            let plan = DecodePlan(level: level)
            let count = Self.quarters.count
            #expect(
                raw.timeCost(of: plan, fileByteCount: writer.file.count)
                    == jpeg.timeCost(of: plan, fileByteCount: count))
            #expect(
                raw.cost(of: plan, fileByteCount: writer.file.count) == jpeg.cost(of: plan, fileByteCount: 2 * count))
        }
        #expect(DecodePlan(combining: [DecodePlan(level: 1), DecodePlan(level: 2)], of: raw)?.coarserLevels == [2])
        #expect(ImageFormat.distrusted.contains(.raw) && ImageFormat.raw.outputFormat(hasAlpha: false) == .jpeg)
        #expect(throws: ImagingError.formatNotAccepted(.raw)) { try decode(writer.file, ImagingLimits()) }
    }

    @Test(arguments: ImageDecoder.Lane.allCases)
    func `a photograph in Adobe RGB has the preview's colors converted`(lane: ImageDecoder.Lane) throws {
        let green = ImageFixture.file(.plain(PixelSize(width: 320, height: 320), [100, 180, 100]), as: .jpeg)
        var writer = RAWWriter(.cr2, green)
        let plain = try decode(writer.file, lane: lane).pixel(x: 100, y: 100)
        writer.isAdobeRGB = true
        let converted = try decode(writer.file, lane: lane).pixel(x: 100, y: 100)
        #expect(Int(plain[0]) > Int(converted[0]) + 30 && abs(Int(plain[1]) - Int(converted[1])) < 10)
    }

    @Test func `a preview that ends with its file counts as incomplete`() throws {
        var writer = RAWWriter(.dng, Self.quarters)
        writer.orientation = 6
        let file = Array(writer.file.dropLast(Self.quarters.count / 2))
        #expect(throws: ImagingError.self) { try decode(file) }
        let header = try inspect(file)
        #expect(header.size == PixelSize(width: 480, height: 640))
        let plan = DecodePlan(incompleteImages: .serve)
        let image = try ImageDecoder.decode(
            SharedBytes(file), header: header, plan: plan, limits: .none, token: WorkToken())
        #expect(image.isIncomplete)
    }
}
