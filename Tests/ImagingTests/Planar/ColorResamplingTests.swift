import CPlanar
import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Planes with fine, saturated details, which are resampled in linear light.
@Suite(.timeLimit(.minutes(1)))
struct ColorResamplingTests {
    private static let size = PixelSize(width: 256, height: 192)

    /// Rows of letter-like strokes in two colors.
    private static func page(
        _ ink: [UInt8], on paper: [UInt8], size: PixelSize = size, scale: Int = 1, format: ImageFormat = .jpeg,
        quality: Int = 85
    ) -> SharedBytes {
        let page = SampleImage(size, bands: 3) { column, row in
            let (x, y) = (column / scale, row / scale)
            let isStroke = x % 7 < 3 || (y % 12 < 2 && x % 28 < 20)
            return y % 12 < 9 && isStroke ? ink : paper
        }
        return SharedBytes(ImageFixture.file(page, as: format, quality: quality))
    }

    private static let red: [UInt8] = [220, 20, 30]
    private static let blue: [UInt8] = [20, 30, 230]
    private static let white: [UInt8] = [255, 255, 255]
    private static let black: [UInt8] = [0, 0, 0]

    @Test(arguments: [ImageFormat.jpeg, .webp], [(red, white), (blue, white), (red, black), ([255, 235, 0], red)])
    func `text in strong colors is detected`(format: ImageFormat, colors: ([UInt8], [UInt8])) throws {
        let page = Self.page(colors.0, on: colors.1, format: format)
        #expect(try decode(page).hasColorDetail)
    }

    @Test func `text in grays, photographs and large areas are not`() throws {
        let quarters = SampleImage.quarters(Self.size)
        let square = SampleImage(Self.size, bands: 3) { x, y in
            40..<140 ~= x && 30..<130 ~= y ? Self.red : Self.white
        }
        let hills = SampleImage(Self.size, bands: 3) { x, y in [UInt8(x), UInt8(y), UInt8(255 - x)] }
        let gray = SampleImage(Self.size, bands: 1) { x, _ in [x.isMultiple(of: 4) ? 0 : 255] }
        let files =
            [Self.page(Self.black, on: Self.white), ImageFixture.photo(width: 640, height: 480)]
            + [quarters, square, hills, gray].map { SharedBytes(ImageFixture.file($0, as: .jpeg)) }
        for (number, file) in files.enumerated() {
            for level in [1, 2, 4] { #expect(try !decode(file, level: level).hasColorDetail, "\(number) at \(level)") }
        }
    }

    @Test func `a difference counts from 33 on, horizontally and vertically, in either plane`() {
        func edges(_ blue: [UInt8], _ red: [UInt8], width: Int, height: Int) -> Int {
            var (blue, red) = (blue, red)
            return unsafe blue.withUnsafeMutableBufferPointer { blue in
                unsafe red.withUnsafeMutableBufferPointer { red in
                    var one = unsafe CPlanarPlane(
                        samples: blue.baseAddress, stride: width, width: Int32(width), height: Int32(height))
                    var other = unsafe CPlanarPlane(
                        samples: red.baseAddress, stride: width, width: Int32(width), height: Int32(height))
                    return unsafe Int(CPlanar_color_edges(&one, &other))
                }
            }
        }
        let plain = [UInt8](repeating: 100, count: 400)
        #expect(edges(plain, plain, width: 200, height: 2) == 0)
        for index in [0, 1, 15, 16, 127, 183, 184, 198] {
            for (value, differs) in [(UInt8(132), false), (133, true), (67, true), (68, false)] {
                var changed = plain
                changed[index] = value
                // The sample itself, and the one before it.
                let expected = differs ? (index == 0 ? 1 : 2) : 0
                #expect(edges(changed, plain, width: 200, height: 2) == expected)
                #expect(edges(plain, changed, width: 200, height: 2) == expected)
                // Below, only the sample above it.
                var below = plain
                below[200 + index] = value
                #expect(edges(below, plain, width: 200, height: 2) == (differs ? 1 : 0))
            }
        }
    }

    @Test func `chroma at a level gets luma's size, unless a decoder was chosen`() throws {
        let size = PixelSize(width: 512, height: 384)
        let page = Self.page(Self.red, on: Self.white, size: size, scale: 4)
        for level in [2, 4] {
            let image = try decode(page, level: level)
            #expect(image.hasColorDetail && image.jpegDecoding == .fast)
            #expect(image.planeSizes == Array(repeating: size.reduced(by: level), count: 3))
            for decoder in JPEGDecoder.allCases {
                let coarse = try decode(page, level: level, jpeg: decoder)
                #expect(coarse.hasColorDetail)
                #expect(coarse.planeSizes[1] == size.reduced(by: 2 * level))
            }
        }
        #expect(try decode(page).planeSizes[1] == size.reduced(by: 2))
    }

    // With a reduced decode, both lanes agree only if libjpeg upsamples the chroma.
    @Test(arguments: [((1, 1), 1), ((2, 1), 1), ((1, 2), 1), ((2, 2), 1), ((2, 2), 2)])
    func `planes of every sampling match libjpeg's pixels`(sampling: (Int, Int), level: Int) throws {
        for isProgressive in [false, true] {
            let image = ReferenceJPEG(
                (Self.size.width, Self.size.height), sampling: [sampling, (1, 1), (1, 1)], noise: 160,
                isProgressive: isProgressive)
            let difference = try largestDifference(image.file, level: level, to: PixelSize(width: 50, height: 40))
            #expect(difference <= 3, "\(image)")
        }
    }

    @Test(arguments: [Self.size, PixelSize(width: 203, height: 155)], 1...8)
    func `every orientation and odd sides match libvips' lane`(size: PixelSize, orientation: Int) throws {
        let page = Self.page(Self.blue, on: Self.white, size: size)
        let turned = SharedBytes(JPEGWriter.oriented(page.array, orientation))
        #expect(try decode(turned).hasColorDetail)
        for width in [71, 90] {
            for (format, quality) in [(ImageFormat.jpeg, 95), (.jpeg, 88), (.webp, 95), (.png, 80)] {
                var options = RenderingOptions()
                (options.width, options.quality) = (width, quality)
                let comparison = try LaneComparison(turned, options, format, light: .linear)
                // libvips' lane writes WebP with sharp chroma.
                let minimum = format == .webp ? 25.0 : quality == 88 ? 30 : 40
                #expect(comparison.noiseDistance > minimum, "\(format) \(quality) \(width)")
            }
        }
    }

    @Test(arguments: [1, 6])
    func `a part of the image is cropped as in libvips' lane`(orientation: Int) throws {
        let page = SharedBytes(JPEGWriter.oriented(Self.page(Self.red, on: Self.white).array, orientation))
        for (x, y) in [(32, 20), (33, 21)] {
            let whole = try ImageHeader.inspect(page).size
            let part = ImageRegion(x: x, y: y, size: PixelSize(width: 121, height: 131), of: whole)
            let size = PixelSize(width: 40, height: 43)
            // libvips' lane upsamples chroma before the crop, so samples outside the part affect its edges.
            #expect(try largestDifference(page, to: size, of: part, margin: 3) <= 3)
        }
    }

    @Test func `limited range has the same colors`() throws {
        let page = Self.page(Self.red, on: Self.white, format: .webp, quality: 100)
        // libwebp upsamples chroma slightly differently.
        #expect(try largestDifference(page, to: PixelSize(width: 50, height: 40)) <= 6)
    }

    @Test func `a WebP image at a level is decoded by libvips, whose chroma has more detail`() throws {
        #expect(try !decode(Self.page(Self.red, on: Self.white, format: .webp), level: 2).isPlanar)
        #expect(try decode(Self.page(Self.black, on: Self.white, format: .webp), level: 2).isPlanar)
    }

    @Test(arguments: [ImageFormat.png, .jpeg, .webp])
    func `columns of two colors mix to the light of both`(format: ImageFormat) throws {
        let stripes = SampleImage(PixelSize(width: 320, height: 320), bands: 3) { x, _ in
            x / 4 % 2 == 0 ? [255, 0, 0] : [255, 255, 255]
        }
        let file = SharedBytes(ImageFixture.file(stripes, as: .jpeg, quality: 100))
        let image = try decode(file)
        #expect(image.hasColorDetail)
        // If only luma were resampled in linear light, it would be [241, 169, 169].
        let plan = RenderPlan(
            resizedSize: PixelSize(width: 20, height: 20), light: .linear, format: format, quality: 100)
        let result = try ImageReading.decode(ImageRenderer.render(image, plan: plan, token: WorkToken()).bytes)
        #expect(result.isClose(x: 9, y: 9, to: [255, 188, 188], tolerance: 4))
    }

    @Test func `a render of colored detail can be stopped`() throws {
        let image = try decode(Self.page(Self.red, on: Self.white))
        let token = WorkToken()
        token.cancel()
        let size = PixelSize(width: 64, height: 48)
        var target = PlanarTarget(of: image.size)
        (target.geometry.resizedSize, target.geometry.rectangle, target.geometry.light) = (
            size, PixelRectangle(size: size), .linear
        )
        #expect(ColorResampling(image, to: target) != nil)
        #expect(throws: CancellationError.self) { try PlanarRenderer.renderPixels(of: image, to: target, token: token) }
    }

    /// The largest difference of a component between the lanes' results, `margin` pixels away from the edges.
    private func largestDifference(
        _ file: SharedBytes, level: Int = 1, to size: PixelSize, of part: ImageRegion? = nil, margin: Int = 0
    ) throws -> Int {
        let decode = DecodePlan(level: level)
        let header = try ImageHeader.inspect(file)
        let plan = RenderPlan(
            decode: decode, source: FrameShape(size: header.size.reduced(by: level), hasAlpha: false),
            steps: [ResampleStep(to: size, of: part, in: .linear)], format: .png, quality: 100)
        let results = try ImageDecoder.Lane.allCases.map { lane in
            let image = try self.decode(file, level: level, lane: lane)
            if lane == .planar { #expect(image.hasColorDetail) }
            return try ImageReading.decode(ImageRenderer.render(image, plan: plan, token: WorkToken()).bytes)
        }
        #expect(results[0].size == results[1].size)
        let differences = (margin..<size.height - margin).flatMap { y in
            (margin..<size.width - margin).flatMap { x in
                zip(results[0].pixel(x: x, y: y), results[1].pixel(x: x, y: y)).map { abs(Int($0) - Int($1)) }
            }
        }
        return differences.max() ?? 255
    }

    private func decode(
        _ file: SharedBytes, level: Int = 1, lane: ImageDecoder.Lane = .planar, jpeg: JPEGDecoder? = nil
    ) throws -> DecodedImage {
        try ImageLibrary.start()
        return try ImageDecoder.decode(
            file, header: .inspect(file), plan: DecodePlan(level: level), limits: .none, token: WorkToken(), lane: lane,
            jpeg: jpeg)
    }
}

extension DecodedImage {
    fileprivate var planeSizes: [PixelSize] {
        guard case .planar(let planes, _) = layout else { return [] }
        return planes.map(\.size)
    }
}
