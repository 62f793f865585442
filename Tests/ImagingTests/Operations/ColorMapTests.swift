import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Steps that only other services' dialects use.
@Suite(.timeLimit(.minutes(1)))
struct ColorMapTests {
    /// The pixels of an image after one step.
    private func applied(
        _ step: some RenderStep, to image: SampleImage, format: ImageFormat = .png
    ) throws -> DecodedImage {
        try ImageLibrary.start()
        let file = SharedBytes(ImageFixture.file(image, as: .png))
        let header = try ImageHeader.inspect(file)
        let plan = RenderPlan(source: header.shape, steps: [step], format: format, quality: 100)
        let token = WorkToken()
        let source = try ImageDecoder.decode(
            file, header: header, plan: plan.decode, limits: ImagingLimits(), token: token)
        return try ImageReading.decode(ImageRenderer.render(source, plan: plan, token: token).bytes, bands: image.bands)
    }

    private func mapped(_ map: ColorMapStep.Map, _ color: [UInt8]) throws -> [Int] {
        try applied(ColorMapStep(map), to: OperationFixture.plain(color)).values(5, 5)
    }

    private func isClose(_ one: [Int], _ other: [Int], within tolerance: Int = 2) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { abs($0 - $1) <= tolerance }
    }

    @Test(arguments: [
        ([ToneCurve.offset(20)], [151, 251, 251]), ([.offset(-50)], [0, 73, 73]), ([.negative], [155, 55, 55]),
        ([.power(2)], [39, 157, 157]), ([.negative, .offset(100)], [255, 255, 255]),
        // β = 6 and the middle of the range.
        ([.sigmoid(20)], [83, 225, 225]), ([.sigmoid(-20)], [111, 176, 176]),
    ])
    func `curves change each component separately, one after the other`(curves: [ToneCurve], expected: [Int]) throws {
        #expect(isClose(try mapped(.curves(curves), [100, 200, 200]), expected), "\(curves)")
        // Alpha is unchanged.
        #expect(isClose(try mapped(.curves(curves), [100, 200, 200, 77]), expected + [77]), "\(curves)")
    }

    @Test func `a matrix mixes components, and clips`() throws {
        let swap: ColorMapStep.Map = .matrix([0, 0, 10_000, 0, 10_000, 0, 20_000, 0, 0])
        #expect(try mapped(swap, [200, 40, 20]) == [20, 40, 255])
        #expect(try mapped(swap, [200, 40, 20, 9]) == [20, 40, 255, 9])
    }

    @Test func `lightness, chroma and hue change independently`() throws {
        let gray = try mapped(.lch(lightness: 1, chroma: 0, hue: 0), [200, 40, 20])
        #expect(isClose([gray[0], gray[0], gray[0]], gray))
        #expect(isClose(try mapped(.lch(lightness: 1, chroma: 1, hue: 0), [200, 40, 20, 77]), [200, 40, 20, 77]))
        // Red has a hue of 40 degrees, green 136.
        let turned = try mapped(.lch(lightness: 1, chroma: 1, hue: 96), [200, 40, 20])
        #expect(turned[1] > turned[0] && turned[1] > turned[2])
        let dark = try mapped(.lch(lightness: 0.5, chroma: 1, hue: 0), [120, 120, 120])
        #expect(isClose(dark, [58, 58, 58], within: 3))
    }

    @Test func `a tint preserves only the lightness`() throws {
        let red = Color(red: 255, green: 0, blue: 0)
        let (tinted, same) = (try mapped(.tint(red), [60, 60, 60, 9]), try mapped(.tint(red), [255, 0, 0]))
        #expect(tinted[0] > tinted[1] + 40 && tinted[3] == 9)
        #expect(isClose(same, [255, 0, 0]))
    }

    @Test func `gray has the linear luminance, and no colors`() throws {
        let image = try applied(ColorMapStep(.gray), to: OperationFixture.plain([0, 255, 0]))
        let gray = image.values(0, 0)
        #expect(Set(gray).count == 1 && isClose(gray, [220, 220, 220], within: 6))
        let veiled = try applied(ColorMapStep(.gray), to: OperationFixture.plain([9, 9, 9, 40]))
        #expect(veiled.values(0, 0) == [9, 9, 9, 40])
    }

    @Test func `a gradient replaces black, white and the values between`() throws {
        let (from, to) = (Color(red: 200, green: 54, blue: 88), Color(red: 216, green: 231, blue: 79))
        #expect(isClose(try mapped(.gradient(from: from, to: to), [0, 0, 0]), [200, 54, 88], within: 1))
        #expect(isClose(try mapped(.gradient(from: from, to: to), [255, 255, 255, 7]), [216, 231, 79, 7], within: 1))
        let middle = LabColor(from).mixed(with: LabColor(to), share: 0.5).color
        let expected = [middle.red, middle.green, middle.blue].map(Int.init)
        #expect(isClose(try mapped(.gradient(from: from, to: to), [127, 127, 127]), expected))
    }

    @Test(arguments: [
        (Color(red: 255, green: 0, blue: 0), [53.24, 80.09, 67.20]), (.white, [100, 0, 0]),
        (Color(red: 0, green: 0, blue: 0), [0, 0, 0]), (Color(red: 119, green: 119, blue: 119), [50.03, 0, 0]),
    ])
    func `colors have coordinates in CIELAB`(color: Color, place: [Double]) {
        let lab = LabColor(color)
        for (value, expected) in zip([lab.lightness, lab.a, lab.b], place) { #expect(abs(value - expected) < 0.05) }
        #expect(lab.color == color)
        #expect(LabColor(lightness: 150, a: 0, b: 0).color == .white)
    }

    @Test func `a kernel mixes neighbors, and repeats the edge`() throws {
        let image = SampleImage(PixelSize(width: 9, height: 9), bands: 3) { x, y in
            x == 4 && y == 4 ? [255, 255, 255] : [90, 90, 90]
        }
        let soft = try applied(KernelStep(.mean), to: image)
        #expect(soft.values(4, 4) == [108, 108, 108] && soft.values(3, 3) == [108, 108, 108])
        #expect(soft.values(0, 0) == [90, 90, 90] && soft.values(8, 4) == [90, 90, 90])
        let sharp = try applied(KernelStep(.sharpen), to: image)
        #expect(sharp.values(4, 4) == [255, 255, 255] && sharp.values(3, 3) == [83, 83, 83])
        #expect(sharp.values(0, 0) == [90, 90, 90])
        // Transparent pixels contribute no color.
        let hole = SampleImage(PixelSize(width: 9, height: 9), bands: 4) { x, y in
            x == 4 && y == 4 ? [255, 0, 0, 0] : [90, 90, 90, 255]
        }
        #expect(isClose(try applied(KernelStep(.mean), to: hole).values(3, 3), [90, 90, 90, 227], within: 1))
    }

    @Test func `lightness is sharpened at edges, and flat areas are unchanged`() throws {
        let image = SampleImage(PixelSize(width: 24, height: 8), bands: 3) { x, _ in
            x < 12 ? [80, 80, 80] : [170, 170, 170]
        }
        let sharp = try applied(LightnessSharpenStep(sigma: 2, flat: 1, jagged: 3), to: image)
        #expect(sharp.values(0, 4) == [80, 80, 80] && sharp.values(11, 4)[0] < 76 && sharp.values(12, 4)[0] > 174)
        let plain = try applied(LightnessSharpenStep(sigma: 2, flat: 0, jagged: 0), to: image)
        #expect(isClose(plain.values(11, 4), [80, 80, 80], within: 1))
    }

    @Test func `a rotation may fill its corners`() throws {
        let red = Color(red: 255, green: 0, blue: 0)
        let opaque = try applied(
            RotationStep(degrees: 45, corners: red), to: OperationFixture.plain([9, 9, 9], width: 40, height: 40))
        #expect(opaque.size == PixelSize(width: 57, height: 57) && opaque.bands == 3)
        #expect(opaque.values(0, 0) == [255, 0, 0] && opaque.values(28, 28) == [9, 9, 9])
        // Transparent parts of the image stay transparent.
        let glass = try applied(
            RotationStep(degrees: 45, corners: red), to: OperationFixture.plain([9, 9, 9, 0], width: 40, height: 40))
        #expect(glass.values(0, 0) == [255, 0, 0, 255] && glass.values(28, 28)[3] == 0)
        let half = Color(red: 0, green: 0, blue: 255, alpha: 128)
        let blue = try applied(RotationStep(degrees: 45, corners: half), to: OperationFixture.plain([9, 9, 9]))
        #expect(blue.values(0, 0) == [0, 0, 255, 128] && blue.bands == 4)
        #expect(RotationStep(degrees: 45).keyText == "rotate 45")
        #expect(RotationStep(degrees: 45, corners: red).keyText == "rotate 45 255,0,0,255")
    }

    @Test(arguments: [
        ("circle", "200×200"), ("ellipse", "300×200"), ("star", "210×200"), ("heart", "221×200"), ("square", "200×200"),
        ("hexagon", "173×200"), ("triangle", "231×200"), ("triangle-180", "231×200"), ("pentagon", "210×200"),
    ])
    func `a shape is enlarged until it fills the frame`(name: String, size: String) throws {
        let mask = try #require(ImageOperations.Mask(rawValue: name))
        #expect(FittedMask(mask, in: PixelSize(width: 300, height: 200)).size.description == size)
        let tiny = FittedMask(mask, in: PixelSize(width: 1, height: 1)).size
        #expect(tiny == PixelSize(width: 1, height: 1))
        let frame = PixelSize(width: 60, height: 40)
        let image = try applied(
            OutlineStep(.fitted(mask), color: .transparent), to: .plain(frame, [200, 40, 20]))
        #expect(image.size == frame && image.values(30, 20) == [200, 40, 20, 255] && image.values(0, 0)[3] == 0)
    }

    @Test func `the square is rotated onto a corner`() throws {
        let image = try applied(
            OutlineStep(.fitted(.square), color: .white), to: .plain(PixelSize(width: 40, height: 40), [9, 9, 9]))
        #expect(image.values(4, 4) == [255, 255, 255] && image.values(20, 2) == [9, 9, 9])
    }
}
