import Foundation
import TestSupport
import Testing

@testable import AlulaClient

/// URLs and signatures of the client.
struct URLTests {
    private static let hexadecimal = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

    private func service(_ base: String = "https://thumbs.example/", key: SigningKey? = nil) throws -> ThumbnailService
    {
        try ThumbnailService(try #require(URL(string: base)), key: key)
    }

    /// A rendition with a value for every property.
    static var full: Rendition {
        var all = Rendition(width: 300, height: 200, fit: .cover, format: .webp)
        all.enlarge = true
        (all.area, all.multipleOf) = (90_000, 28)
        all.devicePixelRatio = 1.5
        all.gravity = .focal(x: 0.25, y: 1)
        all.trim = 10
        all.trimColor = "white"
        all.crop = .fractions(x: 0, y: 0.125, width: 1, height: 0.5)
        all.rotation = 90
        all.flip = .both
        (all.colors.brightness, all.colors.contrast, all.colors.saturation) = (110, 90, 120)
        (all.colors.hue, all.colors.grayscale, all.colors.sepia, all.colors.inversion) = (10, 20, 30, 40)
        (all.blur, all.sharpen, all.pixelate) = (0.3, 1.25, 4)
        all.pad = Rendition.Margins(top: 1, right: 2, bottom: 3, left: 4)
        all.radius = .most
        all.mask = .triangleDown
        all.background = Rendition.Color(red: 255, green: 136, blue: 0, alpha: 128)
        all.quality = 70
        all.isLossless = false
        all.maximumBytes = 100_000
        all.avifBitDepth = 8
        all.gamut = .auto
        (all.keepsCopyright, all.keepsGainMap) = (true, true)
        all.keptMetadata = [.rights, .ai]
        (all.page, all.isAnimated) = (0, false)
        var watermark = Rendition.Watermark("media:l & m.png")
        (watermark.position, watermark.x, watermark.y) = (.topLeft, -3, 4)
        (watermark.opacity, watermark.scale, watermark.isTiled) = (50, 0.2, false)
        all.watermark = watermark
        all.presets = ["card", "dark"]
        all.tags = ["product-7", "season"]
        return all
    }

    @Test func `a rendition writes each parameter once and omits those without a value`() {
        #expect(Rendition().query == "")
        #expect(
            Self.full.query
                == "w=300&h=200&fit=cover&enlarge=1&area=90000&multipleOf=28&dpr=1.5&gravity=focal&fx=0.25&fy=1&trim=10&trimColor=white"
                + "&crop=0.0%2C0.125%2C1.0%2C0.5&rotate=90&flip=hv&brightness=110&contrast=90&saturate=120&hue=10"
                + "&grayscale=20&sepia=30&invert=40&blur=0.3&sharpen=1.25&pixelate=4&pad=1%2C2%2C3%2C4&radius=max"
                + "&mask=triangle-180&background=ff880080&format=webp&q=70&lossless=0&maxBytes=100000&avifBitDepth=8"
                + "&gamut=auto&keepCopyright=1&keepMetadata=ai%2Crights&hdr=keep&page=0&animated=0&watermark=media%3Al%20%26%20m.png"
                + "&watermarkPosition=top-left&watermarkX=-3"
                + "&watermarkY=4&watermarkOpacity=50&watermarkScale=0.2&watermarkTile=0&preset=card%2Cdark"
                + "&tag=product-7%2Cseason")
    }

    @Test func `client-hint sizes replace numbers`() {
        var rendition = Rendition(width: 300, height: 200)
        rendition.devicePixelRatio = 2
        rendition.automatic = .width
        #expect(rendition.query == "w=auto&h=200&dpr=2")
        rendition.automatic = .devicePixelRatio
        #expect(rendition.query == "w=300&h=200&dpr=auto")
    }

    @Test func `the client writes every parameter of the interface description but aliases and the signature`() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../openapi.yaml").standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        let list = try #require(text.firstRange(of: "parameters: &thumbnailParameters\n"))
        let names = text[list.upperBound...].split(separator: "\n").prefix { $0.contains("- ") }.compactMap {
            $0.firstMatch(of: /#\/components\/parameters\/(\w+)"/).map { String($0.1) }
        }
        let request = ThumbnailRequest("a:b", Self.full, placeholder: "red", expires: Date(timeIntervalSince1970: 1))
        let written = Set(request.parameters.map(\.name))
        #expect(names.count > 40)
        // A field may share a parameter's list.
        let missing = Set(names.filter { $0.first?.isLowercase ?? false }).subtracting(written)
        #expect(missing == ["width", "height", "quality", "sig"])
    }

    @Test func `a request for facts writes each parameter once`() throws {
        let request = InfoRequest(
            "a:b", including: [.palette, .blurHash], components: InfoRequest.BlurHashComponents(columns: 5, rows: 2),
            expires: Date(timeIntervalSince1970: 9))
        #expect(
            try service().url(of: request).absoluteString
                == "https://thumbs.example/info?url=a%3Ab&include=palette%2Cblurhash&components=5x2&expires=9")
        #expect(InfoRequest("a:b").parameters.map(\.text) == ["url=a%3Ab"])
    }

    @Test func `a list of widths or densities describes its files`() throws {
        var rendition = Rendition(width: 10)
        rendition.devicePixelRatio = 2
        rendition.automatic = [.width, .devicePixelRatio]
        let request = ThumbnailRequest("a:b", rendition)
        #expect(try service().srcset(request, widths: [7]) == "https://thumbs.example/thumbnail?url=a%3Ab&w=7 7w")
        #expect(
            try service().srcset(request, densities: [3])
                == "https://thumbs.example/thumbnail?url=a%3Ab&w=auto&dpr=3 3x")
    }

    @Test(arguments: [
        (0.1, 3, "0.1"), (1.0, 3, "1"), (2.0004, 3, "2"), (0.0625, 4, "0.0625"), (-0.05, 2, "-0.05"),
        (1e300, 2, "1e+300"),
        (.nan, 2, "nan"),
    ])
    func `numbers have no exponent, no trailing zeros and no more decimals than the service reads`(
        value: Double, places: Int, text: String
    ) {
        #expect(decimal(value, places: places) == text)
    }

    @Test func `URLs are below the service's path and are signed by their target`() throws {
        let named = try SigningKey(hexadecimal: Self.hexadecimal, id: "shop-2026.11_a").signed("/thumbnail?w=9")
        #expect(named.hasPrefix("/thumbnail?w=9&key=shop-2026.11_a&sig="))
        #expect(throws: ClientError.self) { try SigningKey(hexadecimal: Self.hexadecimal, id: "a b") }
        let key = try SigningKey(hexadecimal: Self.hexadecimal)
        let request = ThumbnailRequest(
            "https://example.com/a.jpg", Rendition(width: 300), expires: Date(timeIntervalSince1970: 4_102_444_800))
        let target = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=300&expires=4102444800"
        #expect(try service().url(of: request).absoluteString == "https://thumbs.example" + target)
        let signed = target + "&sig=g-tnX5_mnfIErfrWTj1_P9BwaJI8Jcjy-sS4oZgy6c8"
        #expect(
            try service("https://a.example/t", key: key).url(of: request).absoluteString == "https://a.example/t"
                + signed)
    }

    @Test(arguments: ["", "00ff", hexadecimal + "0g", hexadecimal + "0", hexadecimal + "\n"])
    func `a malformed key is an error, and not a missing key`(text: String) throws {
        #expect {
            try ThumbnailService(#require(URL(string: "https://a.example")), key: SigningKey(hexadecimal: text))
        } throws: {
            if case ClientError.invalidSigningKey = $0 { true } else { false }
        }
        #expect(throws: ClientError.self) { try SigningKey(bytes: [UInt8](repeating: 1, count: 31)) }
    }

    @Test(arguments: [
        "thumbs.example", "/thumbs", "file:///tmp/", "ftp://a.example", "https://a.example/?x=1",
        "https://a.example/#x",
        "https:///a",
    ])
    func `a URL that cannot be a service's is rejected`(text: String) throws {
        let url = try #require(URL(string: text))
        #expect {
            try ThumbnailService(url)
        } throws: {
            if case ClientError.invalidBaseURL(url) = $0 { true } else { false }
        }
    }

    @Test func `a source is a URL or its text`() throws {
        let url = try #require(URL(string: "https://example.com/a%20b.jpg?x=1&y"))
        #expect(ThumbnailRequest(url, Rendition(width: 3)) == ThumbnailRequest(url.absoluteString, Rendition(width: 3)))
        #expect(
            InfoRequest(url, including: [.exif]).parameters.map(\.text)
                == ["url=https%3A%2F%2Fexample.com%2Fa%2520b.jpg%3Fx%3D1%26y", "include=exif"])
    }

    @Test(arguments: [
        (0.2, "1"), (-5, "0"), (.infinity, "253402300799"), (.nan, "0"),
        (Date.distantFuture.timeIntervalSince1970, "64092211200"),
    ])
    func `any date becomes a number of seconds`(seconds: Double, text: String) {
        let parameters = ThumbnailRequest.parameters(expires: Date(timeIntervalSince1970: seconds))
        #expect(parameters.map(\.text) == ["expires=\(text)"])
    }

    @Test func `an order names its destination and cache control only if set`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let orders: [RenditionOrder] = [
            .thumbnail(Rendition(width: 3)), .info([.color], named: "facts"),
            .thumbnail(Rendition(width: 3), to: "out:a/b.webp", cacheControl: "max-age=1", named: "big"),
        ]
        #expect(
            try String(decoding: encoder.encode(orders), as: UTF8.self)
                == #"[{"query":"w=3"},{"include":"color","name":"facts"},"#
                + #"{"cacheControl":"max-age=1","name":"big","query":"w=3","to":"out:a/b.webp"}]"#)
    }

    @Test func `a srcset names each width or density with its URL`() throws {
        let request = ThumbnailRequest("m:é,.jpg", Rendition(width: 9))
        let start = "https://thumbs.example/thumbnail?url=m%3A%C3%A9%2C.jpg&w="
        #expect(try service().srcset(request, widths: [320, 640]) == "\(start)320 320w, \(start)640 640w")
        let cover = ThumbnailRequest("a:b", Rendition(width: 300, height: 200, fit: .cover))
        #expect(try service().srcset(cover, widths: [600]).contains("&w=600&h=400&"))
        #expect(
            try service().srcset(request, densities: [1, 1.5]) == "\(start)9&dpr=1 1x, \(start)9&dpr=1.5 1.5x")
    }

    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1_000])
    func `signatures of targets and of bodies are those of alula sign`(count: Int) async throws {
        let key = try SigningKey(hexadecimal: Self.hexadecimal + String(repeating: "5a", count: count % 80))
        let hexadecimal = Self.hexadecimal + String(repeating: "5a", count: count % 80)
        let target = "/thumbnail?url=" + String(repeating: "a", count: count) + "&w=1"
        #expect(try sign(["--key", hexadecimal, target]) == key.signed(target))
        let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        let file = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString)")
        try body.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for pieces in [
            [UploadBody.Piece.bytes(body)], [.bytes(body.prefix(7)), .bytes(body.dropFirst(7))], [.file(file)],
        ] {
            #expect(try await UploadBody(pieces).digest() == SHA256.hash(body))
        }
        let fields = key.fields(
            target: "/thumbnail?w=3", mediaType: "image/jpeg", accept: "image/webp", digest: SHA256.hash(body))
        let printed = try sign([
            "--key", hexadecimal, "--fields", "--body", file.path, "--content-type", "image/jpeg", "--accept",
            "image/webp",
            "/thumbnail?w=3",
        ])
        #expect(Set(printed.split(separator: "\n").map(String.init)) == Set(fields.map { "\($0.name): \($0.value)" }))
    }

    private func sign(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: BuiltExecutable.alula)
        process.arguments = ["sign"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.trimmingCharacters(in: .newlines)
    }
}
