import Recipes
import TestSupport
import Testing

/// The options `area` and `multipleOf`.
struct SizeLimitsTests {
    struct Line: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let source: PixelSize
        let options: RenderingOptions
        let output: PixelSize
        let resized: PixelSize

        init(
            _ source: String, in box: String, _ fit: Fit = .inside, enlarge: Bool = false, area: Int? = nil,
            multiple: Int? = nil, is output: String, from resized: String? = nil
        ) {
            testDescription = "\(source) \(fit) \(box), area \(area ?? 0), multiple \(multiple ?? 0)"
            let sides = box.split(separator: "x").map { Int($0) }
            self.source = Self.size(source)
            options = TestSupport.options(sides[0], sides[1], fit, enlarge: enlarge) {
                ($0.maximumArea, $0.multiple) = (area, multiple)
            }
            self.output = Self.size(output)
            self.resized = Self.size(resized ?? output)
        }

        private static func size(_ text: String) -> PixelSize {
            let sides = text.split(separator: "x").compactMap { Int($0) }
            return PixelSize(width: sides[0], height: sides[1])
        }
    }

    static let lines = [
        Line("4000x3000", in: "1568x1568", area: 1_150_000, is: "1238x928"),
        Line("4000x3000", in: "300x300", area: 1_150_000, is: "300x225"),
        Line("4000x3000", in: "-x-", area: 100_000_000, is: "4000x3000"),
        Line("4000x3000", in: "600x600", .cover, area: 90_000, is: "300x300", from: "400x300"),
        Line("400x300", in: "600x600", .contain, area: 90_000, is: "300x300", from: "300x225"),
        Line("1000x1", in: "-x-", area: 10, is: "10x1"),
        Line("3x1000", in: "-x-", area: 1, is: "1x1"),
        Line("4000x3000", in: "1000x1000", multiple: 28, is: "980x756"),
        Line("4000x3000", in: "1000x-", multiple: 28, is: "980x756"),
        Line("400x300", in: "1000x1000", enlarge: true, multiple: 28, is: "980x756"),
        Line("400x300", in: "1000x1000", multiple: 28, is: "392x280"),
        Line("600x600", in: "1000x500", .cover, multiple: 28, is: "588x308", from: "588x588"),
        Line("4000x3000", in: "1000x-", .cover, multiple: 28, is: "980x756", from: "1008x756"),
        Line("300x200", in: "500x500", .contain, multiple: 28, is: "476x476", from: "300x200"),
        Line("400x300", in: "500x100", .fill, multiple: 32, is: "384x96"),
        Line("4000x3000", in: "300x300", .outside, multiple: 28, is: "392x308"),
        Line("20x20", in: "-x-", multiple: 28, is: "28x28"),
        Line("4000x3000", in: "20x10", .cover, multiple: 28, is: "28x28", from: "37x28"),
        Line("4000x3000", in: "-x-", area: 1_003_520, multiple: 28, is: "1148x868"),
        Line("10000x10", in: "-x-", area: 5_000, multiple: 28, is: "168x28"),
        Line("4000x3000", in: "-x-", area: 100, multiple: 28, is: "28x28"),
    ]

    @Test(arguments: lines)
    func `the result has at most the area, and sides that are multiples`(line: Line) throws {
        let plan = try plan(line.source.width, line.source.height, line.options)
        #expect(plan.outputSize == line.output && plan.resizedSize == line.resized)
    }

    @Test(arguments: Fit.allCases)
    func `any size is within all limits, and changes by less than one multiple`(fit: Fit) throws {
        var generator = RepeatableGenerator()
        func side(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        for _ in 0..<2_000 {
            let source = PixelSize(width: side(1...3_000), height: side(1...3_000))
            let (multiple, enlarges) = (side(2...64), Bool.random(using: &generator))
            let width = Bool.random(using: &generator) ? side(1...4_000) : nil
            let height = Bool.random(using: &generator) ? side(1...4_000) : nil
            var options = options(width, height, fit, enlarge: enlarges)
            options.maximumArea = Bool.random(using: &generator) ? side(1...3_000_000) : nil
            // Enlarged sides of thin images exceed the limits of results.
            guard let plain = try? plan(source.width, source.height, options).outputSize, plain.area < 20_000_000 else {
                continue
            }
            options.multiple = multiple
            let size = try plan(source.width, source.height, options).outputSize
            let comment = Comment(
                rawValue: "\(source) \(fit) \(width ?? 0)×\(height ?? 0) \(options): \(plain) \(size)")
            #expect(size.width % multiple == 0 && size.height % multiple == 0, comment)
            #expect(plain.area <= options.maximumArea ?? .max, comment)
            #expect(size.area <= max(options.maximumArea ?? .max, multiple * multiple), comment)
            for (side, plainSide, box, own) in [
                (size.width, plain.width, width, source.width), (size.height, plain.height, height, source.height),
            ] {
                let isSmall = side == multiple
                if let box, fit != .outside { #expect(side <= box || isSmall, comment) }
                if !enlarges, fit != .contain { #expect(side <= own || isSmall, comment) }
                if options.maximumArea == nil { #expect(abs(side - plainSide) < multiple, comment) }
            }
        }
    }

    @Test func `the keys of trims have the limits, and others stay`() throws {
        let plain = options(300, 200)
        var limited = plain
        (limited.maximumArea, limited.multiple) = (5_000, 16)
        #expect(limited.keyText == plain.keyText + " area 5000 multiple 16")
    }
}
