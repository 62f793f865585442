import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Steps that only other services' filters use, on images without noise.
@Suite(.timeLimit(.minutes(1)))
struct FormulaStepTests {
    /// The whole image in its own size, followed by these steps.
    private struct Recipe: RenderRecipe {
        let steps: RenderSteps
        var keyText: String { steps.map(\.keyText).joined(separator: "|") }

        func draft(of source: RecipeSource) -> RenderDraft {
            var draft = RenderDraft(size: source.header.size, format: .png, quality: .fixed(100))
            draft.steps = steps
            return draft
        }
    }

    private func render(_ image: SampleImage, _ steps: RenderSteps) throws -> DecodedImage {
        let file = SharedBytes(ImageFixture.file(image, as: .png))
        return try ImageReading.decode(thumbnail(file, Recipe(steps: steps)).bytes, bands: image.bands)
    }

    private func changed(_ color: [UInt8], _ formula: ColorFormula) throws -> [Int] {
        try render(OperationFixture.plain(color), [ColorFormulaStep(formula)]).values(3, 3)
    }

    @Test func `scales, curves and matrices follow their formula and leave alpha unchanged`() throws {
        let bright = ColorFormula.scale(.init(offset: 500_000))
        #expect(try changed([200, 40, 20], bright) == [250, 90, 70])
        #expect(try changed([230, 40, 20, 77], bright) == [255, 90, 70, 77])
        let mixed = ColorFormula.scales(
            red: .init(factor: 5_000), green: .init(), blue: .init(factor: -10_000, offset: 2_550_000))
        #expect(try changed([200, 40, 20], mixed) == [100, 40, 235])
        #expect(Array(try changed([100], mixed).prefix(3)) == [50, 100, 155])
        let falling = (0..<256).map { UInt8(255 - $0) }
        let rising = (0..<256).map { UInt8($0) }
        let curves = ColorFormula.curves(falling + [UInt8](repeating: 7, count: 256) + rising)
        #expect(try changed([200, 40, 20], curves) == [55, 7, 20])
        let gray = ColorFormula.matrix([299, 587, 114, 299, 587, 114, 299, 587, 114])
        #expect(try changed([200, 40, 20], gray) == [86, 86, 86])
    }

    @Test func `saturation moves components away from the root of the mean of squares`() throws {
        // √(0.299·200² + 0.587·40² + 0.114·20²) is 113.8.
        #expect(try changed([200, 40, 20], .saturation(0)) == [114, 114, 114])
        #expect(try changed([200, 40, 20], .saturation(5_000)) == [157, 77, 67])
        #expect(try changed([200, 40, 20], .saturation(10_000)) == [200, 40, 20])
    }

    @Test func `lightness, chroma and hue match CIE Lab`() throws {
        for color in [[200, 40, 20], [30, 180, 60], [128, 128, 128], [0, 0, 0], [255, 255, 255]] as [[UInt8]] {
            let same = try changed(color, .lab(lightness: 10_000, chroma: 10_000, hue: 0))
            #expect(zip(same, color).allSatisfy { abs($0 - Int($1)) <= 1 }, "\(color) becomes \(same)")
        }
        let gray = try changed([200, 40, 20], .lab(lightness: 10_000, chroma: 0, hue: 0))
        #expect(Set(gray).count == 1 && abs(gray[0] - 102) <= 2, "\(gray)")
        let turned = try changed([200, 40, 20], .lab(lightness: 10_000, chroma: 10_000, hue: 1_800_000))
        #expect(turned[0] < 60 && turned[2] > 120, "\(turned)")
        #expect(try changed([200, 40, 20], .lab(lightness: 0, chroma: 0, hue: 0)) == [0, 0, 0])
    }

    @Test func `equalizing spreads the values of each component`() throws {
        let image = SampleImage(PixelSize(width: 40, height: 30), bands: 3) { x, _ in
            x < 20 ? [100, 100, 100] : [110, 110, 110]
        }
        let result = try render(image, [HistogramStep.equalize])
        #expect(result.values(0, 0) == [0, 0, 0] && result.values(39, 0) == [255, 255, 255])
    }

    @Test func `normalizing spreads the lightness and preserves hues`() throws {
        let image = SampleImage(PixelSize(width: 40, height: 30), bands: 4) { x, _ in
            x < 20 ? [60, 60, 60, 77] : [180, 180, 180, 77]
        }
        let result = try render(image, [HistogramStep.normalize(low: 1, high: 99)])
        #expect(result.values(0, 0)[0] < 10 && result.values(39, 0)[0] > 245 && result.values(0, 0)[3] == 77)
        let plain = try render(OperationFixture.plain([100, 100, 100]), [HistogramStep.normalize(low: 1, high: 99)])
        #expect(plain.values(3, 3).prefix(3) == [100, 100, 100])
        let brighter = try render(
            OperationFixture.plain([100, 100, 100]),
            [ColorMapStep(.lch(lightness: 1, chroma: 1, hue: 0, added: 20))])
        #expect((145...160).contains(brighter.values(3, 3)[0]))
    }

    @Test(arguments: [(RankStep.Rank.median, 3, 1), (.maximum, 3, 9), (.maximum, 5, 25), (.minimum, 3, 0)])
    func `a rank picks a pixel of a square by its order`(place: RankStep.Rank, side: Int, count: Int) throws {
        // One bright pixel at (8, 8), and a bright half from x = 20 on.
        let image = SampleImage(PixelSize(width: 40, height: 30), bands: 4) { x, y in
            x == 8 && y == 8 || x >= 20 ? [200, 200, 200, 77] : [0, 0, 0, 77]
        }
        let result = try render(image, [RankStep(place, side: side)])
        let bright = (0..<16).reduce(0) { sum, x in sum + (0..<16).count { result.values(x, $0)[0] == 200 } }
        #expect(bright == (place == .median ? 0 : count) && result.values(30, 15)[0] == 200)
        #expect(result.values(0, 0)[3] == 77)
    }

    @Test func `windows are no larger than the image`() throws {
        let image = SampleImage(PixelSize(width: 2, height: 9), bands: 3) { _, y in [UInt8(y), 0, 0] }
        #expect(try render(image, [RankStep(.maximum, side: 99)]).values(0, 0)[0] <= 1)
    }

    @Test(arguments: [(ImageOperations.Margins.Extend.copy, 0, 39), (.repeat, 38, 1), (.mirror, 1, 38)])
    func `margins are made of the image's own pixels`(
        edge: ImageOperations.Margins.Extend, left: Int, right: Int
    ) throws {
        let image = SampleImage(PixelSize(width: 40, height: 30), bands: 3) { x, y in [UInt8(x), UInt8(y), 9] }
        let result = try render(image, [EdgeStep(edge, margins: .init(top: 1, right: 2, bottom: 0, left: 2))])
        #expect(result.size == PixelSize(width: 44, height: 31))
        #expect(result.values(0, 6)[0] == left && result.values(43, 6)[0] == right && result.values(2, 6)[1] == 5)
    }

    @Test func `noise surrounds each value and is reproducible`() throws {
        let image = OperationFixture.plain([100, 100, 100])
        let first = try render(image, [HistogramStep.noise(amount: 20, seed: 1)])
        let second = try render(image, [HistogramStep.noise(amount: 20, seed: 1)])
        let values = (0..<40).flatMap { x in (0..<30).map { first.values(x, $0)[0] } }
        #expect(first.pixels.array == second.pixels.array)
        #expect(values.allSatisfy { 90..<110 ~= $0 } && Set(values).count > 15)
        let other = try render(image, [HistogramStep.noise(amount: 20, seed: 2)])
        #expect(other.pixels.array != first.pixels.array)
    }

    @Test func `convolutions sum neighbors, which continue beyond the edges`() throws {
        let image = SampleImage(PixelSize(width: 9, height: 9), bands: 3) { x, y in
            x == 4 && y == 4 ? [90, 90, 90] : [0, 0, 0]
        }
        let mean = try #require(ConvolutionStep(factors: [Int](repeating: 111_111, count: 9), columns: 3))
        let result = try render(image, [mean])
        #expect(result.values(3, 3)[0] == 10 && result.values(5, 5)[0] == 10 && result.values(2, 4)[0] == 0)
        let left = try #require(ConvolutionStep(factors: [1_000_000, 0, 0], columns: 3))
        #expect(try render(image, [left]).values(5, 4)[0] == 90)
        #expect(try render(OperationFixture.plain([50, 60, 70, 80]), [mean]).values(0, 0) == [50, 60, 70, 80])
        #expect(ConvolutionStep(factors: [1, 1], columns: 2) == nil)
        #expect(ConvolutionStep(factors: [Int](repeating: 1, count: 227), columns: 1) == nil)
    }

    @Test func `dropped transparency shows the colors beneath`() throws {
        let result = try render(OperationFixture.plain([9, 8, 7, 6]), [OpaqueStep()])
        #expect(result.values(0, 0) == [9, 8, 7, 255])
    }

    @Test func `a backdrop is the mean color, or the image blurred`() throws {
        let image = SampleImage(PixelSize(width: 40, height: 30), bands: 3) { x, _ in
            x < 20 ? [200, 0, 100] : [100, 0, 0]
        }
        let size = PixelSize(width: 60, height: 40)
        let mean = try render(image, [BackdropStep(.mean, size: size, x: 10, y: 5)])
        #expect(mean.size == size && mean.isClose(x: 0, y: 0, to: [150, 0, 50], tolerance: 2))
        #expect(mean.values(10, 5) == [200, 0, 100] && mean.values(49, 34) == [100, 0, 0])
        let blurred = try render(image, [BackdropStep(.blurred(sigma: 500_000), size: size, x: 10, y: 5)])
        #expect(blurred.isClose(x: 0, y: 20, to: [200, 0, 100], tolerance: 12))
        #expect(blurred.values(10, 5) == [200, 0, 100] && blurred.values(49, 34) == [100, 0, 0])
    }

    @Test func `a canvas continues the edges of the image, or mirrors it`() throws {
        let image = SampleImage(PixelSize(width: 4, height: 2), bands: 3) { x, y in [UInt8(60 * x), UInt8(90 * y), 7] }
        let size = PixelSize(width: 8, height: 6)
        let edges = try render(image, [BackdropStep(.edges, size: size, x: 2, y: 2)])
        #expect(edges.values(0, 0) == [0, 0, 7] && edges.values(7, 5) == [180, 90, 7])
        #expect(edges.values(3, 0) == [60, 0, 7])
        let mirrored = try render(image, [BackdropStep(.mirrored, size: size, x: 2, y: 2)])
        #expect(mirrored.values(0, 2) == [60, 0, 7] && mirrored.values(1, 2) == [0, 0, 7])
        #expect(mirrored.values(7, 5) == [120, 0, 7] && mirrored.values(2, 2) == [0, 0, 7])
    }

    @Test func `each pixel becomes a square of its color`() throws {
        let image = SampleImage(PixelSize(width: 3, height: 2), bands: 3) { x, y in [UInt8(60 * x), UInt8(90 * y), 7] }
        let zoomed = try render(image, [ZoomStep(factor: 3)])
        #expect(zoomed.size == PixelSize(width: 9, height: 6))
        for (x, y) in [(0, 0), (2, 2), (3, 2), (8, 5), (5, 3)] {
            #expect(zoomed.values(x, y) == [60 * (x / 3), 90 * (y / 3), 7])
        }
    }

    @Test func `rounded corners may be elliptic, as far as the sides allow`() throws {
        let red = Color(red: 255, green: 0, blue: 0)
        let image = OperationFixture.plain([0, 0, 0])
        let flat = try render(image, [OutlineStep(.elliptic(across: 20_000, down: 4_000), color: red)])
        #expect(flat.values(0, 0) == [255, 0, 0] && flat.values(0, 6) == [0, 0, 0] && flat.values(8, 0)[0] > 100)
        let maximum = try render(image, [OutlineStep(.elliptic(across: 900_000, down: 900_000), color: red)])
        #expect(maximum.values(0, 15) == [0, 0, 0] || maximum.values(0, 15)[0] < 60)
        #expect(maximum.values(2, 2) == [255, 0, 0])
    }

    /// Values of W3C Compositing and Blending 1 for 0.8 above 0.4, and a few others.
    @Test(arguments: [
        (BlendMode.normal, 204), (.multiply, 82), (.screen, 224), (.overlay, 163), (.darken, 102), (.lighten, 204),
        (.colorDodge, 255), (.colorBurn, 64), (.hardLight, 194), (.difference, 102), (.exclusion, 143), (.add, 255),
    ])
    func `blend modes match the W3C's`(mode: BlendMode, expected: Int) throws {
        let step = BlendStep(
            .color(Color(red: 204, green: 204, blue: 204), size: PixelSize(width: 10, height: 10)),
            across: .init(start: 5), down: .init(start: -5), mode: mode, opacity: 100)
        let result = try render(OperationFixture.plain([102, 102, 102]), [step])
        #expect(abs(result.values(5, 0)[0] - expected) <= 1, "\(result.values(5, 0))")
        #expect(result.values(4, 0)[0] == 102 && result.values(15, 0)[0] == 102 && result.values(5, 5)[0] == 102)
        #expect(result.values(14, 4)[0] == result.values(5, 0)[0])
    }

    @Test func `masks keep the covered part, or the rest`() throws {
        func alpha(_ mode: BlendMode, _ x: Int, _ y: Int) throws -> Int {
            let step = BlendStep(
                .color(Color(red: 0, green: 0, blue: 0), size: PixelSize(width: 10, height: 10)),
                across: .init(start: 5), down: .init(start: 5), mode: mode, opacity: 100)
            return try render(OperationFixture.plain([102, 102, 102]), [step]).values(x, y)[3]
        }
        #expect(try alpha(.mask, 7, 7) == 255 && alpha(.mask, 1, 1) == 0 && alpha(.mask, 30, 7) == 0)
        #expect(try alpha(.maskOut, 7, 7) == 0 && alpha(.maskOut, 1, 1) == 255)
    }

    @Test func `copies form a grid`() throws {
        let step = BlendStep(
            .color(Color(red: 255, green: 0, blue: 0), size: PixelSize(width: 4, height: 4)),
            across: .init(start: 0, count: 3, pitch: 18), down: .init(start: 1, count: 2, pitch: 20), opacity: 50)
        let result = try render(OperationFixture.plain([0, 0, 0]), [step])
        for (x, y) in [(0, 1), (18, 1), (39, 4), (3, 21), (36, 24)] {
            #expect(result.values(x, y)[0] == 128, "\(x) \(y)")
        }
        for (x, y) in [(0, 0), (4, 1), (17, 2), (0, 5), (0, 25)] { #expect(result.values(x, y)[0] == 0, "\(x) \(y)") }
    }

    @Test func `a trim can compare distances, from either corner`() throws {
        let image = SampleImage(PixelSize(width: 60, height: 40), bands: 3) { x, y in
            10..<50 ~= x && 10..<30 ~= y ? [110, 110, 110] : x < 55 ? [100, 100, 100] : [200, 0, 0]
        }
        func size(_ change: @escaping (inout ImageOperations.Trim) -> Void) throws -> PixelSize {
            try OperationFixture.render(image) { operations in
                var trim = ImageOperations.Trim(tolerance: 12)
                change(&trim)
                operations.trim = trim
            }.size
        }
        #expect(try size { _ in } == PixelSize(width: 5, height: 40))
        #expect(try size { $0.isFromBottomRight = true } == PixelSize(width: 55, height: 40))
        // A difference of ten in each of three components is a distance of 17.
        let inner = SampleImage(PixelSize(width: 60, height: 40), bands: 3) { x, y in
            10..<50 ~= x && 10..<30 ~= y ? [110, 110, 110] : [100, 100, 100]
        }
        func width(_ tolerance: Int, isDistance: Bool) throws -> Int {
            try OperationFixture.render(inner) { operations in
                var trim = ImageOperations.Trim(tolerance: tolerance)
                trim.isDistance = isDistance
                operations.trim = trim
            }.size.width
        }
        #expect(try width(12, isDistance: false) == 60 && width(12, isDistance: true) == 40)
        #expect(try width(18, isDistance: true) == 60)
    }

    @Test func `key texts are written out`() {
        #expect(ColorFormulaStep(.lab(lightness: 1, chroma: 2, hue: 3)).keyText == "formula lab 1 2 3")
        #expect(ColorFormulaStep(.matrix([1, 2, 3, 4, 5, 6, 7, 8, 9])).keyText == "formula matrix 1,2,3,4,5,6,7,8,9")
        #expect(
            HistogramStep.noise(amount: 4, seed: 5).keyText == "noise 4 5"
                && HistogramStep.equalize.keyText == "equalize"
                && HistogramStep.normalize(low: 1, high: 99).keyText == "normalize 1 99"
                && RankStep(.median, side: 3).keyText == "rank median 3"
                && EdgeStep(.mirror, margins: .init(top: 1, right: 2)).keyText == "edge mirror 1,2,0,0")
        #expect(ConvolutionStep(factors: [1, 2, 3], columns: 3)?.keyText == "convolve 3 1,2,3")
        #expect(OpaqueStep().keyText == "opaque")
        let size = PixelSize(width: 6, height: 7)
        #expect(BackdropStep(.mean, size: size, x: 1, y: 2).keyText == "backdrop mean 6x7 1,2")
        let blend = BlendStep(
            .color(.white, size: size), across: .init(start: 1, count: 2, pitch: 3), down: .init(start: -4),
            mode: .softLight, opacity: 9)
        #expect(blend.keyText == "blend soft-light 255,255,255,255 6x7 at 1*2+3 -4*1+0 9")
    }

    @Test func `backgrounds are added to transparent pixels, or have the color of the corners`() throws {
        let color = Color(red: 255, green: 0, blue: 100, alpha: 128)
        let pixel: [UInt8] = [60, 200, 20, 51]
        // The pixel is one fifth opaque and gets half of the remaining background.
        #expect(try changed(pixel, [BackgroundStep(color, mixing: .sum)]) == [255, 200, 100, 153])
        let composited = try changed(pixel, [BackgroundStep(color)])
        #expect(zip(composited, [190, 67, 73, 153]).allSatisfy { abs($0 - $1) <= 1 }, "\(composited)")
        // A transparent pixel shows the color of the corners, without their alpha.
        #expect(try changed([60, 200, 20, 0], [CornerBackgroundStep()]) == [60, 200, 20, 255])
        #expect(try changed([60, 200, 20], [CornerBackgroundStep()]) == [60, 200, 20])
    }

    @Test func `the color of the corners is the mean of all four`() throws {
        let reds: [[UInt8]] = [[0, 40], [80, 200]]
        let image = SampleImage(PixelSize(width: 8, height: 6), bands: 4) { x, y in
            [0, 7].contains(x) && [0, 5].contains(y) ? [reds[y / 5][x / 7], 0, 255, 255] : [9, 9, 9, 0]
        }
        #expect(try render(image, [CornerBackgroundStep()]).values(3, 3) == [80, 0, 255, 255])
    }

    private func changed(_ color: [UInt8], _ steps: RenderSteps) throws -> [Int] {
        try render(OperationFixture.plain(color), steps).values(3, 3)
    }
}
