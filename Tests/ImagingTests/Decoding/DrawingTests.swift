import Coordination
import Glibc
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DrawingTests {
    private var limits: ImagingLimits {
        var limits = ImagingLimits()
        limits.sourceFormats.insert(.svg)
        return limits
    }

    private func draw(_ file: [UInt8], _ size: PixelSize? = nil) throws -> DecodedImage {
        try ImageLibrary.start()
        let bytes = SharedBytes(file)
        return try ImageDecoder.decode(
            bytes, header: .inspect(bytes), plan: DecodePlan(drawnSize: size), limits: .none, token: WorkToken())
    }

    private func plan(_ attributes: String, _ options: RenderingOptions) throws -> RenderPlan {
        try RenderPlan(
            options: options, format: .png, source: inspect(UnwrittenImages.svg(attributes)), limits: limits)
    }

    @Test(
        arguments: [
            (400, nil, Fit.inside, 400, 300, 400, 300), (nil, 30, .inside, 40, 30, 40, 30),
            (100, 100, .cover, 133, 100, 100, 100), (100, 100, .contain, 100, 75, 100, 100),
            (500, 20, .fill, 500, 20, 500, 20), (nil, nil, .inside, 64, 48, 64, 48),
            (100, 100, .outside, 133, 100, 133, 100),
        ] as [(Int?, Int?, Fit, Int, Int, Int, Int)])
    func `a vector image is drawn at the required size`(
        width: Int?, height: Int?, fit: Fit, drawnWidth: Int, drawnHeight: Int, outWidth: Int, outHeight: Int
    ) throws {
        for enlarge in [false, true] {
            let plan = try plan("width='64' height='48'", options(width, height, fit, enlarge: enlarge))
            #expect(plan.decode.drawnSize == PixelSize(width: drawnWidth, height: drawnHeight))
            #expect(plan.decode.level == 1 && plan.outputSize == PixelSize(width: outWidth, height: outHeight))
            #expect(plan.source.size == plan.decode.drawnSize)
        }
    }

    @Test func `a fraction of a pixel affects the aspect ratio`() throws {
        #expect(try plan("viewBox='0 0 1.5 1'", options(300, nil)).outputSize == PixelSize(width: 300, height: 200))
        #expect(try plan("viewBox='0 0 1.5 1'", options(nil, nil)).outputSize == PixelSize(width: 2, height: 1))
        let doubled = options(nil, nil) { $0.devicePixelRatio = 2_000 }
        #expect(try plan("width='64' height='48'", doubled).outputSize == PixelSize(width: 128, height: 96))
    }

    @Test func `a part of a drawing and a rotated one are drawn at the required size, too`() throws {
        func plan(_ width: Int, _ change: (inout RenderingOptions) -> Void) throws -> RenderPlan {
            try self.plan("width='64' height='48'", options(width, nil, change: change))
        }
        let part = try plan(200) { $0.operations.crop = .pixels(x: 32, y: 0, width: 32, height: 24) }
        #expect(part.decode.drawnSize == PixelSize(width: 400, height: 300))
        #expect(part.outputSize == PixelSize(width: 200, height: 150))
        let token = WorkToken()
        let image = try draw(UnwrittenImages.svg("width='64' height='48'"), part.decode.drawnSize)
        let result = try ImageRenderer.render(image, plan: part, token: token)
        let green = try ImageReading.decode(result.bytes, bands: 4)
        #expect(green.meanColor == [0, 255, 0, 255])
        let turned = try plan(480) { $0.operations.rotation = 90 }
        #expect(turned.decode.drawnSize == PixelSize(width: 640, height: 480))
        #expect(turned.outputSize == PixelSize(width: 480, height: 640))
        // The border is found at the natural size; then the image is drawn again.
        let trimmed = try plan(480) { $0.operations.trim = ImageOperations.Trim(tolerance: 10) }
        #expect(trimmed.decode.drawnSize == PixelSize(width: 64, height: 48))
    }

    @Test func `pixels of a drawing count like a result's`() throws {
        var limits = limits
        limits.maximumSourcePixels = 10
        limits.maximumOutputPixels = 10_000
        let source = try inspect(UnwrittenImages.svg("width='100' height='100'"))
        func plan(_ width: Int?, _ height: Int?, _ fit: Fit = .inside) throws -> RenderPlan {
            try RenderPlan(options: options(width, height, fit), format: .png, source: source, limits: limits)
        }
        #expect(try plan(100, nil).outputSize.area == 10_000)
        #expect(throws: ImagingError.tooManyPixels(PixelSize(width: 101, height: 101))) { try plan(101, nil) }
        #expect(throws: ImagingError.tooManyPixels(PixelSize(width: 1_000, height: 11))) {
            try plan(1_000, 11, .cover)
        }
        let long = try inspect(UnwrittenImages.svg("width='1e6' height='9'"))
        #expect(throws: ImagingError.tooManyPixels(PixelSize(width: 1_000_000, height: 9))) {
            try DecodePlan(ofAddition: long, limits: limits)
        }
    }

    @Test(arguments: [32_767, 32_768, 100_000])
    func `an overlong side counts as too many pixels`(width: Int) throws {
        let size = PixelSize(width: width, height: 1)
        let file = UnwrittenImages.svg("width='64' height='48'")
        func check() throws {
            try DecodePlan(drawnSize: size).check(inspect(file), limits: limits)
            _ = try DecodePlan(ofAddition: inspect(file), drawnSize: size, limits: limits)
            let wide = try inspect(UnwrittenImages.svg("width='\(width)' height='1'"))
            _ = try RenderPlan(options: options(nil, nil), format: .png, source: wide, limits: limits)
        }
        if width <= 32_767 {
            try check()
        } else {
            #expect(throws: ImagingError.tooManyPixels(size)) { try check() }
            #expect(throws: ImagingError.tooManyPixels(size)) { try draw(file, size) }
        }
    }

    @Test func `the size is part of the key`() throws {
        let texts = try plan("width='64' height='48'", options(300, nil)).keyTexts
        #expect(texts == ["page 0 level 1 refuse drawn 300x225", "resample 300x225 gamma.2", "png.4 100"])
    }

    @Test(arguments: [(64, 48), (640, 480), (7, 5), (300, 20)])
    func `edges are sharp at any size`(width: Int, height: Int) throws {
        let image = try draw(UnwrittenImages.svg("width='64' height='48'"), PixelSize(width: width, height: height))
        #expect(image.size == PixelSize(width: width, height: height))
        // Only pixels in the middle are mixtures.
        for x in 0..<width where x != width / 2 {
            #expect(image.pixel(x: x, y: 0) == (x < width / 2 ? [255, 0, 0, 255] : [0, 255, 0, 255]))
        }
    }

    @Test func `undrawn pixels are transparent, and half-opaque ones half transparent`() throws {
        let file =
            "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'><rect width='10' height='10' fill='#c86432' opacity='.5'/></svg>"
        let image = try draw(Array(file.utf8))
        #expect(
            image.isClose(x: 3, y: 3, to: [200, 100, 50, 128], tolerance: 2)
                && image.pixel(x: 15, y: 3) == [0, 0, 0, 0])
    }

    @Test func `text is drawn`() throws {
        let text = "<text y='40' font-size='40' font-family='%'>Ax</text>"
        func ink(_ family: String) throws -> Int {
            let file =
                "<svg xmlns='http://www.w3.org/2000/svg' width='64' height='48'>\(text.replacing("%", with: family))</svg>"
            return try draw(Array(file.utf8)).pixels.array.reduce(0) { $0 + Int($1) }
        }
        let plain = try ink("no such family")
        #expect(plain > 20_000)
        #expect(try ink("sans-serif") == plain && ink("Arial") == plain)
        #expect(try ink("serif") != plain && ink("Times New Roman") == ink("serif"))
        #expect(try ink("Courier New") == ink("monospace"))
    }

    @Test func `external references are ignored, and nothing is contacted`() throws {
        let path = "/tmp/alula-drawing-\(getpid()).png"
        let red = ImageFixture.file(.plain(PixelSize(width: 8, height: 8), [255, 0, 0]), as: .png)
        guard let file = unsafe fopen(path, "wb"), unsafe fwrite(red, 1, red.count, file) == red.count,
            unsafe fclose(file) == 0
        else { throw ImagingError.notAnImage }
        defer { unsafe _ = unlink(path) }
        let listener = try Listener()
        let samples = HostileDrawing.referring(toImage: path, port: listener.port)
        #expect(samples.count >= 34)
        for sample in samples {
            // A rejected image reveals nothing either.
            guard let image = try? draw(sample.file) else { continue }
            #expect(image.pixels.array.allSatisfy { $0 == 0 }, "\(sample.name)")
        }
        #expect(!listener.wasAsked)
        // The same image is drawn if the file embeds it.
        #expect(try draw(SVGWithin.file(red)).pixel(x: 3, y: 3) == [255, 0, 0, 255])
    }

    @Test(arguments: [
        "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd'>",
        "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://h/svg11.dtd' [<!ENTITY ns 'http://www.w3.org/2000/svg'>]>",
        "<!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>", "<!DOCTYPE svg [<!ENTITY a PUBLIC \"p\" 'b>'>]>",
        "<!DOCTYPE svg [<!ENTITY a SYSTEM 'b.gif' NDATA gif><!NOTATION gif SYSTEM 'gif'>]>",
        "<!DOCTYPE svg [<!ENTITY x SYSTEM 'b'><!ENTITY a 'c&x;'>]>",
        "<!DOCTYPE svg [<!ENTITY % p SYSTEM 'http://127.0.0.1:1/a.dtd'> %p; <!ENTITY a 'b'>]>",
        "<!DOCTYPE svg [<!ENTITY % p\n PUBLIC 'p' 'a.dtd'>\n%p;%p;]>",
        "<!DOCTYPE svg [<!-- <!ENTITY x SYSTEM 'b'> % --><!ENTITY a \"SYSTEM 'b'\">]>",
    ])
    func `a document type is accepted, and its external entities are empty`(type: String) throws {
        let use = type.contains("ENTITY a") ? "<text x='-99'>&a;</text>" : ""
        let name = type.contains("ENTITY ns") ? "&ns;" : "http://www.w3.org/2000/svg"
        let text =
            "\(type)<svg xmlns='\(name)' width='8' height='8'><rect width='8' height='8' fill='#00ff00'/>\(use)</svg>"
        #expect(try draw(Array(text.utf8)).meanColor == [0, 255, 0, 255])
    }

    @Test(arguments: ["<!ENTITY a SYSTEM 'b", "<!ENTITY a SYSTEM", "%", "%p;", "<!ENTITY % p SYSTEM 'b'> %p"])
    func `a document type without an end is not an image`(start: String) {
        let text = "<!DOCTYPE svg [\(String(repeating: start, count: 2_000))"
        #expect(throws: ImagingError.notAnImage) { try inspect(Array(text.utf8)) }
    }

    @Test func `a damaged drawing is rejected`() {
        for end in ["<rect", "<rect></g></svg>", "&unknown;</svg>"] {
            let file = Array("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\(end)".utf8)
            #expect(throws: ImagingError.self) { try draw(file) }
        }
    }
}

/// An SVG file with an embedded image.
private enum SVGWithin {
    static func file(_ image: [UInt8]) -> [UInt8] {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: image.count, by: 3) {
            let part = (0..<3).reduce(0) { $0 << 8 | (start + $1 < image.count ? Int(image[start + $1]) : 0) }
            for place in 0..<4 {
                text.append(start + place - 1 < image.count || place == 0 ? digits[part >> (18 - 6 * place) & 63] : "=")
            }
        }
        return Array(
            ("<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='8' height='8'>"
                + "<image width='8' height='8' xlink:href='data:image/png;base64,\(text)'/></svg>").utf8)
    }
}

/// A listener on the loopback interface that counts connections.
private struct Listener {
    private let socket: CInt
    let port: Int

    init() throws {
        let descriptor = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) == 0 && listen(descriptor, 9) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        try #require(isOpen)
        socket = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    var wasAsked: Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        defer { close(socket) }
        return unsafe poll(&entry, 1, 0) != 0
    }
}
