import Recipes
import TestSupport
import Testing

/// Source, box and result such as `4000x3000`; a side that is not set is `-`.
struct SizeCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let source: PixelSize
    let options: RenderingOptions
    let resizedSize: PixelSize
    let outputSize: PixelSize

    init(
        _ source: String, in box: String, _ fit: Fit, enlarge: Bool = false, ratio: Int = 1_000, is output: String,
        from resized: String? = nil
    ) {
        testDescription = "\(source) \(fit) \(box) at \(ratio)\(enlarge ? " enlarged" : "")"
        let sides = box.split(separator: "x").map { Int($0) }
        self.source = SizeCase.size(source)
        options = TestSupport.options(sides[0], sides[1], fit, enlarge: enlarge) { $0.devicePixelRatio = ratio }
        outputSize = SizeCase.size(output)
        resizedSize = SizeCase.size(resized ?? output)
    }

    private static func size(_ text: String) -> PixelSize {
        let sides = text.split(separator: "x").compactMap { Int($0) }
        return PixelSize(width: sides[0], height: sides[1])
    }

    static let ratioKept = [
        SizeCase("4000x3000", in: "300x300", .inside, is: "300x225"),
        SizeCase("3000x4000", in: "300x300", .inside, is: "225x300"),
        SizeCase("4000x3000", in: "300x-", .inside, is: "300x225"),
        SizeCase("4000x3000", in: "-x300", .inside, is: "400x300"),
        SizeCase("4000x3000", in: "302x-", .inside, is: "302x227"),
        SizeCase("4000x3000", in: "301x-", .inside, is: "301x226"),
        SizeCase("4000x3000", in: "5000x5000", .inside, is: "4000x3000"),
        SizeCase("4000x3000", in: "5000x5000", .inside, enlarge: true, is: "5000x3750"),
        SizeCase("400x300", in: "800x-", .inside, is: "400x300"),
        SizeCase("400x300", in: "800x-", .inside, enlarge: true, is: "800x600"),
        SizeCase("400x300", in: "100x100", .inside, ratio: 2_000, is: "200x150"),
        SizeCase("400x300", in: "101x101", .inside, ratio: 1_500, is: "152x114"),
        SizeCase("400x300", in: "300x300", .inside, ratio: 8_000, is: "400x300"),
        SizeCase("1000x1", in: "100x100", .inside, is: "100x1"),
        SizeCase("1x1000", in: "-x10", .inside, is: "1x10"),
        SizeCase("16000x10", in: "2000x-", .inside, is: "2000x1"),
        SizeCase("4000x3000", in: "300x300", .outside, is: "400x300"),
        SizeCase("3000x4000", in: "300x300", .outside, is: "300x400"),
        SizeCase("400x300", in: "350x350", .outside, is: "400x300"),
        SizeCase("400x300", in: "350x350", .outside, enlarge: true, is: "467x350"),
        SizeCase("400x300", in: "200x-", .outside, is: "200x150"),
        SizeCase("1x1", in: "16384x-", .outside, is: "1x1"),
    ]

    static let boxKept = [
        SizeCase("4000x3000", in: "300x300", .fill, is: "300x300"),
        SizeCase("400x300", in: "500x100", .fill, is: "400x100"),
        SizeCase("400x300", in: "500x100", .fill, enlarge: true, is: "500x100"),
        SizeCase("400x300", in: "500x-", .fill, is: "400x300"),
        SizeCase("400x300", in: "200x-", .fill, is: "200x150"),
        SizeCase("4000x3000", in: "300x300", .contain, is: "300x300", from: "300x225"),
        SizeCase("400x300", in: "1000x1000", .contain, is: "1000x1000", from: "400x300"),
        SizeCase("400x300", in: "1000x1000", .contain, enlarge: true, is: "1000x1000", from: "1000x750"),
        SizeCase("400x300", in: "800x-", .contain, is: "800x600", from: "400x300"),
        SizeCase("400x300", in: "200x150", .contain, is: "200x150"),
        SizeCase("4000x3000", in: "300x300", .cover, is: "300x300", from: "400x300"),
        SizeCase("4000x3000", in: "300x100", .cover, is: "300x100", from: "300x225"),
        SizeCase("4000x3000", in: "400x300", .cover, is: "400x300"),
        SizeCase("400x300", in: "200x-", .cover, is: "200x150"),
        SizeCase("100x100", in: "400x200", .cover, is: "100x50", from: "100x100"),
        SizeCase("1000x100", in: "500x200", .cover, is: "250x100", from: "1000x100"),
        SizeCase("1000x100", in: "500x200", .cover, enlarge: true, is: "500x200", from: "2000x200"),
        SizeCase("400x300", in: "500x500", .cover, is: "300x300", from: "400x300"),
        SizeCase("400x300", in: "800x-", .cover, is: "400x300"),
        SizeCase("400x300", in: "100x100", .cover, ratio: 2_500, is: "250x250", from: "333x250"),
        SizeCase("10x100", in: "3x1000", .cover, is: "1x100", from: "10x100"),
    ]

    static let noBox = [
        SizeCase("4000x3000", in: "-x-", .inside, is: "4000x3000"),
        SizeCase("4001x3001", in: "-x-", .inside, ratio: 500, is: "2001x1501"),
        SizeCase("400x300", in: "-x-", .inside, ratio: 2_000, is: "400x300"),
        SizeCase("400x300", in: "-x-", .inside, enlarge: true, ratio: 2_000, is: "800x600"),
        SizeCase("400x300", in: "-x-", .cover, ratio: 2_000, is: "400x300"),
        SizeCase("400x300", in: "-x-", .fill, ratio: 2_000, is: "400x300"),
        SizeCase("400x300", in: "-x-", .contain, ratio: 2_000, is: "800x600", from: "400x300"),
        SizeCase("1x1", in: "-x-", .inside, ratio: 500, is: "1x1"),
    ]
}

struct RenderPlanSizeTests {
    @Test(arguments: SizeCase.ratioKept + SizeCase.boxKept + SizeCase.noBox)
    func `the box determines the sizes`(line: SizeCase) throws {
        let plan = try plan(line.source.width, line.source.height, line.options)
        #expect(plan.outputSize == line.outputSize)
        #expect(plan.resizedSize == line.resizedSize)
    }

    @Test(arguments: Fit.allCases)
    func `a single side never crops and is exact`(fit: Fit) throws {
        for (width, height) in [(4_000, 333), (333, 4_000), (997, 991), (16_000, 7)] {
            for side in 1...300 {
                let byWidth = try plan(width, height, options(side, nil, fit, enlarge: true))
                #expect(byWidth.outputSize.width == side)
                #expect(byWidth.steps.count == 1)
            }
            for side in 1...min(300, height) {
                let byHeight = try plan(width, height, options(nil, side, fit))
                #expect(byHeight.outputSize.height == side)
                #expect(byHeight.steps.count == 1)
            }
        }
    }

    @Test func `a fitted image never exceeds its box, at any size`() throws {
        var generator = RepeatableGenerator()
        for _ in 0..<2_000 {
            let width = Int.random(in: 1...3_000, using: &generator)
            let height = Int.random(in: 1...3_000, using: &generator)
            let box = PixelSize(
                width: Int.random(in: 1...4_000, using: &generator),
                height: Int.random(in: 1...4_000, using: &generator))
            let description = Comment(rawValue: "\(width)×\(height) in \(box)")

            let inside = try plan(width, height, options(box.width, box.height)).outputSize
            #expect(inside.width <= min(box.width, width) && inside.height <= min(box.height, height), description)

            let cover = try plan(width, height, options(box.width, box.height, .cover))
            let resized = try #require(cover.resizedSize)
            #expect(resized.width <= width && resized.height <= height, description)
            #expect(cover.outputSize.width <= min(box.width, width), description)
            if let crop = cover.crop {
                #expect(crop.x >= 0 && crop.x + crop.size.width <= resized.width, description)
                #expect(crop.y >= 0 && crop.y + crop.size.height <= resized.height, description)
            }

            let contain = try plan(width, height, options(box.width, box.height, .contain))
            #expect(contain.outputSize == box, description)
            #expect(contain.resizedSize == inside, description)
        }
    }

    @Test func `the upright size counts, not the stored one`() throws {
        let source = ImageHeader(
            format: .jpeg, storedSize: PixelSize(width: 4_000, height: 3_000), orientation: 6)
        let plan = try RenderPlan(options: options(300, 300), format: .jpeg, source: source, limits: ImagingLimits())
        #expect(plan.outputSize == PixelSize(width: 225, height: 300))
    }
}

/// A generator with the same numbers in every run.
struct RepeatableGenerator: RandomNumberGenerator {
    private var state: UInt64 = 1

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
