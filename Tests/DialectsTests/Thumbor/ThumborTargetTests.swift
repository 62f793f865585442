import Recipes
import Testing
import Text

@testable import Dialects

struct ThumborTargetTests {
    private func target(_ path: String) throws -> ThumborTarget { try ThumborTarget(sent: path) }

    private func address(_ path: String) throws -> String {
        String(decoding: try target(path).source, as: UTF8.self)
    }

    @Test func `all options are parsed in their order`() throws {
        let read = try target(
            "debug/meta/trim:bottom-right:7/10x20:300x400/adaptive-full-fit-in/stretch/-30x-40/1x2:3x4/right/top/smart/"
                + "filters:blur(2):fill(red)/http://a.example/b.png")
        #expect(read.isDebug && read.isMeta)
        let geometry = read.geometry
        #expect(geometry.trim == ThumborGeometry.Trim(tolerance: 7, isFromBottomRight: true))
        #expect(
            geometry.crop
                == ThumborGeometry.Crop(left: .pixels(10), top: .pixels(20), right: .pixels(300), bottom: .pixels(400)))
        #expect(geometry.fitIn == ThumborGeometry.FitIn(isAdaptive: true, isFull: true))
        #expect(geometry.isStretched && geometry.isMirroredAcross && geometry.isMirroredDown && geometry.isSmart)
        #expect(geometry.width == .pixels(30) && geometry.height == .pixels(40))
        #expect(geometry.padding == ThumborGeometry.Padding(left: 1, top: 2, right: 3, bottom: 4))
        #expect(geometry.across == .end && geometry.down == .start)
        #expect(read.filters.map(\.name) == ["blur", "fill"])
        #expect(String(decoding: read.source, as: UTF8.self) == "http://a.example/b.png")
    }

    /// The image URL begins at the first segment that is not an option.
    @Test(arguments: [
        ("http://a.example/b.png", "http://a.example/b.png"), ("a.example/b.png", "a.example/b.png"),
        ("top/left/a/b", "left/a/b"), ("200x200/trim/a/b", "trim/a/b"), ("Fit-In/a/b", "Fit-In/a/b"),
        ("full-adaptive-fit-in/a", "full-adaptive-fit-in/a"), ("300.5x200/a", "300.5x200/a"),
        ("trim:left/a", "trim:left/a"),
        ("filters:blur(2/a", "filters:blur(2/a"), ("filters:blur/a", "filters:blur/a"), ("1x2:3/a", "1x2:3/a"),
        ("filters:blur(2)/filters:fill(red)/a", "filters:fill(red)/a"), ("//300x200//a/b", "a/b"),
        ("300x200", "300x200"),
        ("", ""), ("x/a", "a"), ("fxf/a", "fxf/a"), ("--1x2/a", "--1x2/a"),
    ])
    func `the address begins where the options end`(path: String, expected: String) throws {
        #expect(try address(path) == expected)
    }

    @Test(arguments: [
        ("x", ThumborGeometry.Side.automatic, ThumborGeometry.Side.automatic), ("0x0", .automatic, .automatic),
        ("origx200", .original, .pixels(200)), ("-100xorig", .pixels(100), .original), ("7x", .pixels(7), .automatic),
    ])
    func `sides are numbers, orig or nothing`(
        text: String, width: ThumborGeometry.Side, height: ThumborGeometry.Side
    ) throws {
        let geometry = try target(text + "/a").geometry
        #expect(geometry.width == width && geometry.height == height)
    }

    @Test func `crops have fractions with a point, and pixels without`() throws {
        let fractions = try target("0.5x0:1x0.25/a").geometry.crop
        #expect(
            fractions
                == ThumborGeometry.Crop(
                    left: .fraction(500_000), top: .pixels(0), right: .pixels(1), bottom: .fraction(250_000)))
        #expect(try target("0x0:1x1/a").geometry.crop?.right == .pixels(1))
    }

    @Test func `oversized numbers are rejected, and none overflow`() throws {
        for path in ["2000000x1/a", "99999999999999999999999999x1/a", "1x1/99999999999999999999x1/a"] {
            #expect(throws: APIError.self, "\(path)") { try target(path) }
        }
        let digits = String(repeating: "9", count: 4_000)
        #expect(try target("trim:\(digits)/a").geometry.trim?.tolerance == 1_000)
        #expect(try target("1x1:\(digits)x\(digits)/a").geometry.crop?.right == .pixels(100_000_000))
    }

    @Test func `filters are split at colons and arguments at commas outside of parentheses and brackets`() throws {
        let filters = try target(
            "filters:watermark(http://a.example/b(1,2).png,%20-10%20,10p,50):curve([(0,0),(9,9)],[(1,2)]):no_upscale()/a"
        ).filters
        #expect(
            filters.map(\.arguments) == [
                ["http://a.example/b(1,2).png", "-10", "10p", "50"], ["[(0,0),(9,9)]", "[(1,2)]"], [],
            ])
        #expect(filters.map(\.name) == ["watermark", "curve", "no_upscale"])
    }

    @Test func `more than 64 filters are rejected`() throws {
        func path(_ count: Int) -> String {
            "filters:" + [String](repeating: "blur(1)", count: count).joined(separator: ":") + "/a"
        }
        #expect(try target(path(64)).filters.count == 64)
        #expect(throws: APIError.badParameter("filters", "At most 64 filters are allowed.")) { try target(path(65)) }
    }

    /// Each target takes a fraction of a millisecond; the limit allows for a very busy machine.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["(", ")", "/", ":", "filters:", "filters:a(", "1x1:", ",", "%28", "[", "trim:", "-x-", "\u{0}"])
    func `long targets of one repeated text are parsed or rejected`(piece: String) {
        for start in ["", "filters:", "filters:a(", "filters:image(/1x1/", "filters:fill("] {
            let text = start + String(repeating: piece, count: 8_192 / piece.utf8.count) + ")/a"
            let read = try? ThumborTarget(sent: text)
            var reader = ThumborFilterReader(ThumborConfiguration())
            if let read { try? reader.read(read.filters) }
            #expect(reader.marks.count <= ThumborFilterReader.maximumMarks)
        }
    }

    @Test(arguments: [
        ("http://a.example/b.png", "http://a.example/b.png"), ("a.example/b.png", "http://a.example/b.png"),
        ("127.0.0.1:80/b.png", "http://127.0.0.1:80/b.png"),
        ("http%3A%2F%2Fa.example%2Fb%3Fv%3D1", "http://a.example/b?v=1"),
        ("http://a.example/b%20c.png", "http://a.example/b%20c.png"), ("b64:aHR0cDovL2EvYg", "http://a/b"),
        ("b64:aHR0cDovL2EvYg==", "http://a/b"), ("b64:!!", "http://b64:!!"), ("ftp://a/b", "ftp://a/b"),
        ("http://a.example/%E2%82%AC", "http://a.example/€"),
    ])
    func `addresses are decoded once and get a scheme`(text: String, source: String) throws {
        #expect(try ThumborTarget(sent: "1x1/" + text).source(base: "http://").string == source)
    }

    @Test func `after a name, an escaped question mark is part of the path`() throws {
        let target = try ThumborTarget(sent: "1x1/a%3Flist-type=2%23b%20c")
        #expect(try target.source(base: "media:") == "media:a%3Flist-type=2%23b c")
        #expect(try target.source(base: "http://h/") == "http://h/a?list-type=2#b%20c")
    }

    @Test(arguments: ["", "%", "%ff", "http:/a.example/b", "https:a", String(repeating: "a", count: 4_000)])
    func `invalid addresses are rejected`(text: String) {
        #expect(throws: APIError.self) { try ThumborTarget(sent: "1x1/" + text).source(base: "http://") }
    }

    @Test(arguments: [
        ("https://h", "https://h/.evil.example/a"), ("https://h:80", "https://h:80/.evil.example/a"),
        ("https://h/", "https://h/.evil.example/a"), ("https://h/b", "https://h/b.evil.example/a"),
        ("https://h?u=", "https://h?u=.evil.example/a"), ("media:", "media:.evil.example/a"),
    ])
    func `no address extends the host of the base URL`(base: String, source: String) throws {
        #expect(try ThumborTarget(sent: "1x1/.evil.example/a").source(base: SourceBase(base)).string == source)
        #expect(try ThumborTarget(sent: "1x1/%40e%2Fa").source(base: "https://h") == "https://h/@e/a")
        #expect(try ThumborTarget(sent: "1x1/%2Fa").source(base: "https://h") == "https://h/a")
    }
}

extension ThumborTarget {
    /// Parses a path as sent by a client.
    init(sent path: String, isLayer: Bool = false) throws(APIError) {
        try self.init(ThumborText(bytes: Array(path.utf8)[...], isDecoded: false), isLayer: isLayer)
    }

    fileprivate func source(base: SourceBase) throws(APIError) -> ExactText {
        guard let decodedSource else { throw .badURL("") }
        return try ThumborSource.source(decodedSource, base: base)
    }
}
