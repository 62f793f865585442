import Recipes
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

@Suite(.timeLimit(.minutes(1)))
struct OperationGrammarTests {
    private func operations(_ query: String) throws -> ImageOperations {
        try ThumbnailTarget.parse("/thumbnail?url=x:y&" + query, accept: nil).options.operations
    }

    @Test func `every operation is parsed`() throws {
        let query =
            "trim=10&trimColor=red&crop=0.25,0.0,0.5,1.0&rotate=45&flip=hv&brightness=120&contrast=80&saturate=0&hue=359"
            + "&grayscale=100&sepia=50&invert=1&blur=2.5&sharpen=0.75&pixelate=8&pad=1,2,3,4&radius=max&mask=triangle-180"
        var wanted = ImageOperations()
        wanted.trim = .init(tolerance: 10, color: Color(red: 255, green: 0, blue: 0))
        wanted.crop = .fractions(x: 2_500, y: 0, width: 5_000, height: 10_000)
        (wanted.rotation, wanted.flip) = (45, .both)
        (wanted[.brightness], wanted[.contrast], wanted[.saturation]) = (120, 80, 0)
        (wanted[.hue], wanted[.grayscale]) = (359, 100)
        (wanted[.sepia], wanted[.inversion]) = (50, 1)
        (wanted[.blur], wanted[.sharpen], wanted[.pixelate]) = (250, 75, 8)
        wanted.pad = .init(top: 1, right: 2, bottom: 3, left: 4)
        (wanted.radius, wanted.mask) = (.maximum, .triangleDown)
        #expect(try operations(query) == wanted)
        #expect(try operations("crop=0,1,20,30").crop == .pixels(x: 0, y: 1, width: 20, height: 30))
    }

    @Test func `missing margins default as in CSS`() throws {
        #expect(try operations("pad=5").pad == .init(top: 5, right: 5, bottom: 5, left: 5))
        #expect(try operations("pad=5,6").pad == .init(top: 5, right: 6, bottom: 5, left: 6))
        #expect(try operations("pad=5,6,7").pad == .init(top: 5, right: 6, bottom: 7, left: 6))
        #expect(try operations("pad=4096,0,0,4096").pad == .init(top: 4_096, right: 0, bottom: 0, left: 4_096))
    }

    @Test(arguments: [
        "rotate=0", "brightness=100", "contrast=100", "saturate=100", "hue=0", "grayscale=0", "sepia=0", "invert=0",
        "blur=0", "blur=0.0", "blur=0.00", "sharpen=0", "pixelate=1", "pad=0", "pad=0,0,0,0", "radius=0",
    ])
    func `a value without an effect equals the request without it`(query: String) throws {
        #expect(try operations(query) == ImageOperations())
    }

    @Test(arguments: [
        ("trim=0", "trim"), ("trim=256", "trim"), ("trim=", "trim"), ("trim=1.5", "trim"),
        ("trimColor=red", "trimColor"),
        ("trim=1&trimColor=nothing", "trimColor"), ("trim=1&animated=1", "trim"), ("animated=1&trim=9", "trim"),
        ("crop=1,2,3", "crop"), ("crop=1,2,3,4,5", "crop"), ("crop=1,2,3,0", "crop"), ("crop=1,2,0,4", "crop"),
        ("crop=-1,0,1,1", "crop"), ("crop=0.5,0,1,1", "crop"), ("crop=0.5,0.5,0.0,0.5", "crop"),
        ("crop=0.0,0.0,1.1,1.0", "crop"), ("crop=0.00001,0.0,1.0,1.0", "crop"), ("crop=0.,0.0,1.0,1.0", "crop"),
        ("crop=.5,0.0,1.0,1.0", "crop"), ("crop=1,2,3,", "crop"), ("crop=01,2,3,4", "crop"), ("crop=1, 2,3,4", "crop"),
        ("rotate=360", "rotate"), ("rotate=-360", "rotate"), ("rotate=-0", "rotate"), ("rotate=1.5", "rotate"),
        ("flip=vh", "flip"),
        ("flip=", "flip"), ("brightness=401", "brightness"), ("contrast=-1", "contrast"),
        ("saturate=1.0", "saturate"), ("hue=360", "hue"), ("grayscale=101", "grayscale"), ("sepia=101", "sepia"),
        ("invert=101", "invert"), ("blur=0.29", "blur"), ("blur=100.01", "blur"), ("blur=1.234", "blur"),
        ("blur=", "blur"), ("blur=.5", "blur"), ("blur=0.1", "blur"), ("sharpen=10.01", "sharpen"),
        ("sharpen=0.2", "sharpen"), ("pixelate=0", "pixelate"), ("pixelate=257", "pixelate"), ("pad=4097", "pad"),
        ("pad=", "pad"), ("pad=1,2,3,4,5", "pad"), ("pad=1,,2", "pad"), ("pad=-1", "pad"), ("pad=1.5", "pad"),
        ("radius=16385", "radius"), ("radius=-1", "radius"), ("mask=oval", "mask"),
        ("mask=", "mask"), ("blur=1&blur=1", "blur"), ("mask=star&mask=star", "mask"),
    ])
    func `a bad value names its parameter`(query: String, parameter: String) {
        let error = #expect(throws: APIError.self) { try operations(query) }
        #expect(error?.code == "bad_parameter" && error?.parameter == parameter)
    }

    @Test(arguments: [
        ("rotate=-90", "rotate=270"), ("rotate=-359", "rotate=1"), ("flip=HV", "flip=hv"), ("radius=MAX", "radius=max"),
        ("mask=Circle", "mask=circle"), ("trim=9&trimColor=%23F00", "trim=9&trimColor=ff0000"),
        ("trim=9&trimColor=rgb(0%20128%2C255)", "trim=9&trimColor=0080ff"),
        ("trim=9&trimColor=RGBA(0,0,0,0.5)", "trim=9&trimColor=00000080"),
    ])
    func `a value has several spellings`(query: String, same: String) throws {
        #expect(try operations(query) == operations(same))
    }

    @Test func `words of closed lists are case-insensitive`() throws {
        func request(_ query: String) throws -> Request {
            try ThumbnailTarget.parse("/thumbnail?url=http%3A%2F%2Fh%2Fa&" + query, accept: nil)
        }
        for (query, same) in [
            ("w=9&h=9&fit=Cover&gravity=TOP-left", "w=9&h=9&fit=cover&gravity=top-left"),
            ("format=JPEG", "format=jpeg"),
            ("format=AUTO&q=Auto", "format=auto&q=auto"), ("gamut=P3", "gamut=p3"),
            ("w=9&h=9&fit=cover&gravity=FOCAL&fx=0.1&fy=0.2", "w=9&h=9&fit=cover&gravity=focal&fx=0.1&fy=0.2"),
            ("background=%23fff", "background=ffffff"),
        ] {
            #expect(try request(query) == request(same), "\(query)")
        }
        #expect(throws: APIError.self) { try request("Format=jpeg") }
    }

    @Test func `the ends of every range are allowed`() throws {
        for query in [
            "trim=1", "trim=255", "rotate=359", "brightness=0", "brightness=400", "contrast=400", "saturate=400",
            "hue=359", "invert=100", "blur=0.3", "blur=0.30", "blur=100", "blur=100.00", "sharpen=0.3", "sharpen=10",
            "pixelate=2", "pixelate=256", "radius=16384", "crop=0.0,0.0,0.0001,1.0000", "crop=999999999,0,1,1",
        ] {
            #expect(try operations(query) != ImageOperations(), "\(query)")
        }
    }

    @Test func `a job's rendition preserves its operations`() throws {
        let target = try NativeDialect().target(
            source: "x:y", rendition: "w=3&crop=0.1,0.0,1.0,1.0&pad=1,2&radius=max&blur=0.50&trim=3&trimColor=fff")
        #expect(
            target
                == "/thumbnail?url=x%3Ay&w=3&trim=3&trimColor=ffffff&crop=0.1,0.0,1.0,1.0&blur=0.5&pad=1,2,1,2&radius=max"
        )
    }

    /// Random operations.
    static func anyOperations(_ random: inout SplitMix, color: Color) -> ImageOperations {
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
        func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
        var operations = ImageOperations()
        operations.trim = maybe(.init(tolerance: number(1...255), color: maybe(color)))
        operations.crop = maybe(
            maybe(.pixels(x: number(0...9_999), y: 0, width: number(1...9_999), height: 1))
                ?? .fractions(x: number(0...10_000), y: number(0...10_000), width: number(1...10_000), height: 10_000))
        operations.flip = maybe(.horizontal) ?? maybe(.vertical) ?? maybe(.both)
        operations.rotation = number(0...359)
        operations[.brightness] = number(0...400)
        operations[.contrast] = number(0...400)
        operations[.saturation] = number(0...400)
        operations[.hue] = number(0...359)
        operations[.grayscale] = number(0...100)
        operations[.sepia] = number(0...100)
        operations[.inversion] = number(0...100)
        operations[.blur] = maybe(number(30...10_000)) ?? 0
        operations[.sharpen] = maybe(number(30...1_000)) ?? 0
        operations[.pixelate] = number(1...256)
        operations.pad = .init(top: number(0...4_096), right: number(0...1), bottom: number(0...1), left: number(0...1))
        operations.radius = maybe(.maximum) ?? .pixels(number(0...16_384))
        operations.mask = ImageOperations.Mask.allCases.randomElement(using: &random)
        return operations
    }
}
