import CPlanarShim
import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging

/// Watermarks on results, pixel by pixel.
@Suite(.timeLimit(.minutes(1)))
struct OverlayStepTests {
    private static let size = PixelSize(width: 40, height: 24)
    private static let markSize = PixelSize(width: 8, height: 4)

    /// A file with a watermark on it.
    private static func file(
        _ image: SharedBytes, mark: SharedBytes, as format: ImageFormat = .png, ratio: Int = 1_000,
        keeping forms: KeptForms? = nil,
        _ configure: (inout RenderingOptions, inout WatermarkOptions) -> Void = { _, _ in }
    ) throws -> SharedBytes {
        try ImageLibrary.start()
        var (wishes, watermark, limits) = (RenderingOptions(), WatermarkOptions(), ImagingLimits())
        configure(&wishes, &watermark)
        limits.sourceFormats.formUnion([.avif])
        func decoded(_ file: SharedBytes, _ plan: DecodePlan) throws -> DecodedImage {
            try ImageDecoder.decode(
                file, header: ImageHeader.inspect(file), plan: plan, limits: limits, token: WorkToken())
        }
        var plan = try RenderPlan(
            options: wishes, format: format, source: ImageHeader.inspect(image), limits: limits)
        try plan.append(
            watermark: watermark, ratio: ratio, header: ImageHeader.inspect(mark), limits: limits, light: .gamma)
        return try ImageRenderer.render(
            decoded(image, plan.decode), additions: [decoded(mark, plan.additions[0])],
            reuse: forms?.reuse ?? AdditionForm.made, plan: plan, token: WorkToken()
        ).bytes
    }

    private static func png(_ size: PixelSize, _ color: [UInt8]) -> SharedBytes {
        SharedBytes(ImageFixture.file(.plain(size, color), as: .png))
    }

    /// The exact mixture of two straight colours with alpha, in real numbers.
    private static func mixture(_ mark: [UInt8], over image: [UInt8], opacity: Int) -> [Int] {
        func colors(_ pixel: [UInt8]) -> ([Double], Double) {
            let hasAlpha = pixel.count.isMultiple(of: 2)
            let values = pixel.map(Double.init)
            let colors = hasAlpha ? Array(values.dropLast()) : values
            let alpha = hasAlpha ? values[colors.count] / 255 : 1
            return (colors.count == 1 ? [colors[0], colors[0], colors[0]] : colors, alpha)
        }
        let ((top, topAlpha), (bottom, bottomAlpha)) = (colors(mark), colors(image))
        let above = topAlpha * Double(opacity) / 100
        let alpha = above + bottomAlpha * (1 - above)
        let mixed = zip(top, bottom).map { top, bottom in
            Int(((top * above + bottom * bottomAlpha * (1 - above)) / alpha).rounded())
        }
        return image.count.isMultiple(of: 2) ? mixed + [Int((alpha * 255).rounded())] : mixed
    }

    @Test(
        arguments: [[200, 100, 50], [90], [10, 250, 30, 128], [240, 77], [1, 2, 3, 1]] as [[UInt8]],
        [[20, 220, 120], [60], [255, 0, 128, 100], [30, 200], [9, 8, 7, 0]] as [[UInt8]])
    func `flat colours are mixed exactly, whatever has alpha or colour`(image: [UInt8], mark: [UInt8]) throws {
        for opacity in [100, 60, 1] {
            let result = try ImageReading.decode(
                Self.file(Self.png(Self.size, image), mark: Self.png(Self.markSize, mark)) { $1.opacity = opacity })
            #expect(result.size == Self.size)
            var inside = Self.mixture(mark, over: image, opacity: opacity)
            var outside = image.map(Int.init)
            if result.bands < 3 {
                inside = [inside[0]] + inside.dropFirst(3)
            } else if outside.count < 3 {
                outside = [outside[0], outside[0], outside[0]] + outside.dropFirst()
            }
            for y in 0..<Self.size.height {
                for x in 0..<Self.size.width {
                    let isCovered = x >= 32 && y >= 20
                    let isAsExpected = result.isClose(x: x, y: y, to: isCovered ? inside : outside, tolerance: 0)
                    #expect(isAsExpected, "\(result.pixel(x: x, y: y)) at \(x),\(y), \(opacity) %")
                    guard isAsExpected else { return }
                }
            }
        }
    }

    @Test func `scaled edges are mixed premultiplied: no dark or foreign rim`() throws {
        // White whose transparent pixels are red.
        let mark = SampleImage(PixelSize(width: 40, height: 40), bands: 4) { x, y in
            10..<30 ~= x && 10..<30 ~= y ? [255, 255, 255, 255] : [255, 0, 0, 0]
        }
        let result = try ImageReading.decode(
            Self.file(
                Self.png(Self.size, [255, 255, 255]), mark: SharedBytes(ImageFixture.file(mark, as: .png))
            ) { $1.scale = 2_700 })
        // Resampled pixels with alpha are rounded down.
        #expect(result.pixels.array.allSatisfy { $0 >= 254 })
        // The same on black: grey at the rim, white inside.
        let black = try ImageReading.decode(
            Self.file(
                Self.png(Self.size, [0, 0, 0]), mark: SharedBytes(ImageFixture.file(mark, as: .png))
            ) { $1.scale = 2_700 })
        #expect(black.isClose(x: 34, y: 18, to: [255, 255, 255], tolerance: 2))
        for y in 0..<Self.size.height {
            for x in 0..<Self.size.width {
                let pixel = black.pixel(x: x, y: y)
                #expect(pixel[0] == pixel[1] && pixel[1] == pixel[2])
            }
        }
    }

    @Test func `a watermark keeps its pixels where it has its own size`() throws {
        let mark = SharedBytes(ImageFixture.file(.quarters(PixelSize(width: 10, height: 8)), as: .png))
        let result = try ImageReading.decode(
            Self.file(Self.png(Self.size, [0, 0, 0]), mark: mark) { ($1.position, $1.x, $1.y) = (.topLeft, 3, 2) })
        let quarters = SampleImage.quarters(PixelSize(width: 10, height: 8))
        for y in 0..<Self.size.height {
            for x in 0..<Self.size.width {
                let isCovered = 3..<13 ~= x && 2..<10 ~= y
                let start = ((y - 2) * 10 + x - 3) * 3
                let expected = isCovered ? Array(quarters.pixels[start..<start + 3]) : [0, 0, 0]
                #expect(result.pixel(x: x, y: y) == expected, "\(x),\(y)")
            }
        }
    }

    @Test(arguments: [nil, 5_000])
    func `a watermark lies on the trimmed image`(scale: Int?) throws {
        let image = SampleImage(Self.size, bands: 3) { x, y in
            8..<28 ~= x && 6..<18 ~= y ? [20, 40, 220] : [0, 0, 0]
        }
        let result = try ImageReading.decode(
            Self.file(SharedBytes(ImageFixture.file(image, as: .png)), mark: Self.png(Self.markSize, [20, 220, 40])) {
                $0.operations.trim = ImageOperations.Trim(tolerance: 10)
                $1.scale = scale
            })
        #expect(result.size == PixelSize(width: 20, height: 12))
        let (left, top) = scale == nil ? (12, 8) : (10, 7)
        for y in 0..<12 {
            for x in 0..<20 {
                let expected: [UInt8] = x >= left && y >= top ? [20, 220, 40] : [20, 40, 220]
                #expect(result.pixel(x: x, y: y) == expected, "\(x),\(y)")
            }
        }
    }

    @Test(arguments: [(0, 0), (3, 2), (-3, -5), (-8, 0), (-19, -4)])
    func `tiles are repeated to the right and down`(x: Int, y: Int) throws {
        let tile = PixelSize(width: 8, height: 6)
        let image = SampleImage(tile, bands: 3) { x, y in [UInt8(x * 30), UInt8(y * 40), 99] }
        let result = try ImageReading.decode(
            Self.file(
                Self.png(Self.size, [0, 0, 0]), mark: SharedBytes(ImageFixture.file(image, as: .png))
            ) { ($1.isTiled, $1.x, $1.y) = (true, x, y) })
        for row in 0..<Self.size.height {
            for column in 0..<Self.size.width {
                let (inX, inY) = (column - x, row - y)
                let expected: [UInt8] =
                    inX < 0 || inY < 0
                    ? [0, 0, 0] : [UInt8(inX % tile.width * 30), UInt8(inY % tile.height * 40), 99]
                #expect(result.pixel(x: column, y: row) == expected, "\(column),\(row)")
            }
        }
    }

    @Test(arguments: [(-30, -20, true), (-30, -20, false), (5, 5, true), (0, 0, false)])
    func `of a watermark larger than the result the part that lies on it is seen`(x: Int, y: Int, isTiled: Bool) throws
    {
        let large = PixelSize(width: 50, height: 30)
        let image = SampleImage(large, bands: 3) { x, y in [UInt8(x * 5), UInt8(y * 8), 99] }
        let result = try ImageReading.decode(
            Self.file(
                Self.png(Self.size, [0, 0, 0]), mark: SharedBytes(ImageFixture.file(image, as: .png))
            ) { ($1.position, $1.isTiled, $1.x, $1.y) = (.topLeft, isTiled, x, y) })
        for row in 0..<Self.size.height {
            for column in 0..<Self.size.width {
                let (inX, inY) = (column - x, row - y)
                let isOutside = inX < 0 || inY < 0 || !isTiled && (inX >= large.width || inY >= large.height)
                let expected: [UInt8] =
                    isOutside ? [0, 0, 0] : [UInt8(inX % large.width * 5), UInt8(inY % large.height * 8), 99]
                #expect(result.pixel(x: column, y: row) == expected, "\(column),\(row)")
            }
        }
    }

    @Test(arguments: [ImageFixture.jpeg, .png], ImageFormat.written)
    func `every format gets it, whatever the source`(source: ImageFixture, format: ImageFormat) throws {
        let file = try Self.file(source.bytes, mark: Self.png(PixelSize(width: 16, height: 16), [0, 0, 0]), as: format)
        var limits = ImagingLimits()
        limits.sourceFormats.formUnion([.avif, .jxl])
        let image = try ImageDecoder.decode(
            file, header: ImageHeader.inspect(file), plan: DecodePlan(), limits: limits, token: WorkToken()
        ).interleaved(token: WorkToken())
        #expect(image.isNear(x: 56, y: 40, [0, 0, 0]))
        #expect(image.isNear(x: 40, y: 40, [255, 255, 255]))
        #expect(image.isNear(x: 8, y: 8, [255, 0, 0]))
    }

    @Test(arguments: [ImageFixture.webpAnimated, .gifAnimated])
    func `every frame of an animation gets it`(source: ImageFixture) throws {
        let mark = Self.png(PixelSize(width: 16, height: 16), [255, 255, 255])
        let file = try Self.file(source.bytes, mark: mark, as: .webp) { options, _ in options.isAnimated = true }
        let image = try ImageReading.decode(file)
        #expect(image.frames == ImageFixture.frames)
        for frame in 0..<image.frames {
            #expect(image.isNear(x: 60, y: 44, frame: frame, [255, 255, 255]))
            #expect(image.isNear(x: 8, y: 8, frame: frame, [[255, 0, 0], [0, 255, 0], [0, 0, 255]][frame]))
        }
    }

    @Test func `formats without alpha have the background below it`() throws {
        let image = Self.png(Self.size, [0, 0, 0, 0])
        let file = try Self.file(image, mark: Self.png(PixelSize(width: 16, height: 16), [0, 0, 255]), as: .jpeg)
        let result = try ImageReading.decode(file)
        #expect(result.isClose(x: 4, y: 4, to: [255, 255, 255]))
        #expect(result.isClose(x: 34, y: 18, to: [0, 0, 255]))
        let red = try ImageReading.decode(
            Self.file(image, mark: Self.png(Self.markSize, [0, 0, 255, 0])) { options, _ in
                options.background = Color(red: 255, green: 0, blue: 0)
            })
        #expect(red.isClose(x: 38, y: 22, to: [255, 0, 0], tolerance: 0))
    }

    @Test(arguments: ImageFixture.quarters)
    func `a watermark may come from any source, upright and in sRGB`(mark: ImageFixture) throws {
        let image = Self.png(PixelSize(width: 128, height: 96), [0, 0, 0])
        let own = try ImageReading.decode(mark.bytes)
        let quarters = [(1, 1, [255, 0, 0]), (3, 1, [0, 255, 0]), (1, 3, [0, 0, 255])]
        for (scale, x, y) in [(5_000, 64, 48), (2_500, 96, 72)] {
            let result = try ImageReading.decode(Self.file(image, mark: mark.bytes) { $1.scale = scale })
            let (width, height) = (128 - x, 96 - y)
            #expect(result.isClose(x: x - 2, y: y - 2, to: [0, 0, 0], tolerance: 0))
            for (column, row, color) in quarters {
                // The inks of CMYK are duller than the colours of the others.
                let inks = own.pixel(x: column * 16, y: row * 12).map(Int.init)
                let place = (x: x + width * column / 4, y: y + height * row / 4)
                #expect(
                    result.isNear(x: place.x, y: place.y, mark == .jpegAdobeCMYK ? inks : color, tolerance: 16))
            }
            #expect(result.isNear(x: 126, y: 94, [255, 255, 255]))
        }
    }

    @Test(arguments: [ImageFixture.jpegGreyRamp, .pngGreyRamp, .pngSixteenBitGrey, .pngOneBit])
    func `a grey watermark is grey on an image in colour`(mark: ImageFixture) throws {
        let result = try ImageReading.decode(Self.file(ImageFixture.png.bytes, mark: mark.bytes))
        for x in [8, 24, 40, 56] {
            let pixel = result.pixel(x: x, y: 24).map(Int.init)
            #expect(abs(pixel[0] - pixel[1]) <= 2 && abs(pixel[1] - pixel[2]) <= 2, "\(pixel)")
        }
    }

    @Test(
        arguments: [ImageFormat.jpeg, .webp],
        [(5, 3, false, 100), (4, 2, false, 60), (-3, -5, true, 40), (90, 60, false, 80)])
    func `planes are mixed like pixels, at odd places and sides too`(
        format: ImageFormat, mark: (x: Int, y: Int, isTiled: Bool, opacity: Int)
    ) throws {
        let size = PixelSize(width: 161, height: 121)
        let image: [UInt8] = [200, 100, 50]
        let source = SharedBytes(ImageFixture.file(.plain(size, image), as: .jpeg, quality: 95))
        let stamp = SampleImage(PixelSize(width: 63, height: 57), bands: 4) { x, y in [20, 220, 120, 200] }
        for quality in [80, 95] {
            let result = try ImageReading.decode(
                Self.file(source, mark: SharedBytes(ImageFixture.file(stamp, as: .png)), as: format) {
                    $0.quality = quality
                    ($1.position, $1.x, $1.y) = (.topLeft, mark.x, mark.y)
                    ($1.isTiled, $1.opacity) = (mark.isTiled, mark.opacity)
                })
            let mixed = Self.mixture([20, 220, 120, 200], over: image, opacity: mark.opacity)
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (inX, inY) = (x - mark.x, y - mark.y)
                    // Beside the edges, the formats' chroma and ringing are seen.
                    let isAtEdge =
                        [0, 63].contains { abs(inX - $0) <= 16 } || [0, 57].contains { abs(inY - $0) <= 16 }
                    let isCovered = mark.isTiled || 0..<63 ~= inX && 0..<57 ~= inY
                    guard mark.isTiled || !isAtEdge else { continue }
                    let isAsExpected = result.isNear(
                        x: x, y: y, isCovered ? mixed : image.map(Int.init), tolerance: 10)
                    #expect(isAsExpected, "\(result.pixel(x: x, y: y)) at \(x),\(y)")
                    guard isAsExpected else { return }
                }
            }
        }
    }

    @Test(arguments: [1, 2], [(0, 0), (3, 5), (10, 6)])
    func `a stamp on planes covers its area exactly`(step: Int, place: (x: Int, y: Int)) throws {
        let size = PixelSize(width: 13, height: 9)
        var target = PlanarTarget(of: size)
        target.chromaStep = step
        let planes = target.planes(ofGrey: false)
        let memory = PlaneMemory(count: planes.byteCount)
        for (plane, value) in zip(planes, [100, 90, 80] as [UInt8]) { memory.fill(plane, with: value) }
        let white = SampleImage.plain(PixelSize(width: 2, height: 2), [255, 255, 255, 255])
        let stamp = PlaneStamp(
            samples: DecodedImage(pixels: SharedBytes(white.pixels), size: white.size, bands: 4).split(to: .full),
            x: place.x, y: place.y, coveredSize: PixelSize(width: 3, height: 3), opacity: 100)
        try stamp.apply(to: unsafe CPlanarShimPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes)))
        let samples = memory.finish().array
        func isCovered(_ x: Int, _ y: Int) -> Bool { place.x..<place.x + 3 ~= x && place.y..<place.y + 3 ~= y }
        for (index, plane) in planes.enumerated() {
            let (side, before) = (index == 0 ? 1 : step, [100, 90, 80][index])
            for y in 0..<plane.size.height {
                for x in 0..<plane.size.width {
                    let pixels = (0..<side * side).map { part in
                        isCovered(
                            min(x * side + part % side, size.width - 1), min(y * side + part / side, size.height - 1))
                    }
                    let covered = pixels.filter(\.self).count
                    let after = index == 0 ? 255 : 128
                    let expected =
                        (after * covered + before * (side * side - covered) + side * side / 2) / (side * side)
                    let sample = samples[plane.offset + y * plane.stride + x]
                    #expect(Int(sample) == expected, "plane \(index) at \(x),\(y)")
                }
            }
        }
    }

    @Test func `the scaled form is made once and kept`() throws {
        let kept = KeptForms()
        let (image, mark) = (ImageFixture.jpeg.bytes, ImageFixture.pngHalfTransparent.bytes)
        func file(opacity: Int, _ forms: KeptForms? = nil) throws -> [UInt8] {
            try Self.file(image, mark: mark, keeping: forms) { ($1.scale, $1.opacity) = (5_000, opacity) }.array
        }
        let first = try file(opacity: 100, kept)
        #expect(try file(opacity: 100, kept) == first)
        #expect(try file(opacity: 100) == first)
        // The form is the same at another opacity.
        #expect(try file(opacity: 40, kept) == file(opacity: 40))
        #expect(kept.sizes == [PixelSize(width: 32, height: 24)])
    }

    @Test func `the level of its decode follows from sizes, and it is decoded no larger than needed`() throws {
        let header = try ImageHeader.inspect(ImageFixture.photo(width: 400, height: 300))
        func plan(_ width: Int, scale: Int?) throws -> RenderPlan {
            var options = RenderingOptions()
            options.width = width
            var plan = try RenderPlan(
                options: options, format: .png,
                source: ImageHeader.inspect(ImageFixture.photo(width: 400, height: 400)), limits: ImagingLimits())
            var watermark = WatermarkOptions()
            watermark.scale = scale
            try plan.append(
                watermark: watermark, ratio: 1_000, header: header, limits: ImagingLimits(), light: .gamma)
            return plan
        }
        for (scale, level) in [
            (nil, 1), (10_000, 1), (5_100, 1), (5_000, 2), (2_500, 2), (2_400, 4), (1_250, 4), (1_200, 8),
        ] {
            #expect(try plan(200, scale: scale).additions == [DecodePlan(level: level)], "\(scale ?? 0)")
        }
        let key = try plan(200, scale: 1_200).keyTexts
        #expect(key.contains("overlay 0 24x18 0,0 24x18 gamma at 176,182 24x18 100"))
        #expect(key.last == "addition page 0 level 8 refuse")
    }

    @Test func `a huge watermark costs no more memory than the result`() throws {
        // At eight times its size it would have 64 million pixels.
        let mark = Self.png(PixelSize(width: 1_000, height: 1_000), [0, 0, 255])
        var plan = try RenderPlan(
            options: RenderingOptions(), format: .png, source: ImageHeader.inspect(ImageFixture.png.bytes),
            limits: ImagingLimits())
        let price = plan.price
        try plan.append(
            watermark: WatermarkOptions(), ratio: 8_000, header: ImageHeader.inspect(mark), limits: ImagingLimits(),
            light: .gamma)
        #expect(plan.price < price + 4 * (ImageFixture.size.area + 1_000_000) + 1)
        let result = try ImageReading.decode(Self.file(ImageFixture.png.bytes, mark: mark, ratio: 8_000))
        #expect(result.pixels.array == Array(repeating: [0, 0, 255], count: ImageFixture.size.area).flatMap { $0 })
    }

    @Test func `a watermark outside of the result leaves no step`() throws {
        let (image, mark) = (ImageFixture.png.bytes, Self.png(Self.markSize, [1, 2, 3]))
        let file = try Self.file(image, mark: mark) { $1.x = 64 }
        #expect(try file.array == thumbnail(image, RenderingOptions(), .png).bytes.array)
    }
}

extension DecodedImage {
    /// Whether the colours of a pixel are about these, whatever its alpha.
    fileprivate func isNear(x: Int, y: Int, frame: Int = 0, _ color: [Int], tolerance: Int = 24) -> Bool {
        zip(pixel(x: x, y: y, frame: frame), color).allSatisfy { abs(Int($0) - $1) <= tolerance }
    }
}

/// Keeps all forms of additional sources.
private final class KeptForms: Sendable {
    private let forms = Locked<[(form: AdditionForm, image: DecodedImage)]>([])

    /// The sizes of the forms in the order in which they were made.
    var sizes: [PixelSize] { forms.withLock { $0.map(\.image.size) } }

    var reuse: AdditionFormReuse {
        { [forms] _, form, make in
            if let kept = forms.withLock({ $0.first { $0.form == form } }) { return kept.image }
            let image = try make()
            forms.withLock { $0.append((form, image)) }
            return image
        }
    }
}
