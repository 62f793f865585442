import Recipes
import Text

struct CloudflareOptions: Hashable, Sendable {
    /// `fill`, `inside` and `outside` are not Cloudflare's; components of other services send them.
    enum Fit: String, CaseIterable, Sendable {
        case scaleDown = "scale-down", contain, cover, crop, aspectCrop = "aspect-crop", pad, squeeze
        case fill, inside, outside
    }

    enum Position: Hashable, Sendable {
        case gravity(Gravity)
        case point(x: Int, y: Int)
    }

    enum Trim: Hashable, Sendable {
        case pixels(ImageOperations.Margins, width: Int?, height: Int?)
        /// A border of one color, of which `keep` pixels remain.
        case border(ImageOperations.Trim, keep: Int)
    }

    /// The options as written, in ASCII; they determine all other properties.
    let text: String
    var box = RequestedBox()
    private(set) var fit = Fit.scaleDown
    private(set) var position = Position.gravity(.center)
    /// The zoom in percent; applies only to faces.
    private(set) var zoom = 0
    var quality: Int?
    /// The output format; nil selects the first of ``accepted``, or else the source's format.
    private(set) var format: ImageFormat?
    /// The formats to negotiate, best first; nil ignores `Accept`.
    private(set) var accepted: [ImageFormat]?
    private(set) var isAnimated = true
    private(set) var background: Color?
    private(set) var trim: Trim?
    private(set) var operations = ImageOperations()
    private(set) var gamma: Float?
    private(set) var keepsCopyright = true
    private(set) var isFast = false
    private(set) var redirectsOnError = false
    private(set) var requestsFacts = false
    private(set) var ignored: [String] = []

    private static let names = [
        "width", "height", "dpr", "fit", "gravity", "zoom", "quality", "slow-connection-quality", "format", "anim",
        "background", "trim", "trim.top", "trim.left", "trim.right", "trim.bottom", "trim.width", "trim.height",
        "trim.border.color", "trim.border.tolerance", "trim.border.keep", "rotate", "flip", "blur", "sharpen",
        "brightness", "contrast", "gamma", "saturation", "metadata", "compression", "onerror", "upscale",
    ]
    private static let otherNames = [
        ("w", "width"), ("h", "height"), ("g", "gravity"), ("q", "quality"), ("f", "format"),
        ("scq", "slow-connection-quality"), ("face-zoom", "zoom"),
    ]
    private static let positionNames = ["auto", "face", "left", "right", "top", "bottom", "center", "XxY"]
    private static let formats = ["auto", "avif", "webp", "jpeg", "baseline-jpeg", "png", "json"]
    private static let qualities = [
        ("high", 90), ("medium-high", 70), ("medium-low", 50), ("low", 35), ("mid", 50), ("max", 100),
    ]
    /// The width for `auto` is the largest one that the service allows.
    private static let automaticWidth = 1_200
    private static let borderTolerance = 10

    init(_ text: Substring, accept: String?) throws(APIError) {
        self.text = String(text)
        let values = try Self.values(text)
        let ratio = try values.number("dpr", in: 0.01...10) ?? 1
        let isAutomatic = try values["width"] == "auto"
        let width = try isAutomatic ? Self.automaticWidth : values.whole("width", in: FrontEndParameters.sides)
        box.width = width.map { Self.pixels($0, ratio: ratio) }
        box.height = try values.whole("height", in: FrontEndParameters.sides).map { Self.pixels($0, ratio: ratio) }
        fit = try values.choice("fit") ?? .scaleDown
        if let text = try values["gravity"] { position = try Self.position(text) }
        quality = try Self.quality(values, named: "quality")
        _ = try Self.quality(values, named: "slow-connection-quality")
        switch try values["format"] {
        case nil: break
        case "auto": accepted = AcceptedFormats.named(of: [.avif, .webp], in: accept)
        case "json": requestsFacts = true
        case "baseline-jpeg": format = .jpeg
        case let word?: format = try FrontEndParameters.format(word, parameter: "format", of: Self.formats)
        }
        isAnimated = try values.word("anim", of: "true", "false") != "false"
        background = try values.color("background")
        trim = try Self.trim(values, ratio: ratio)
        try readEffects(values)
        keepsCopyright = try values.word("metadata", of: "copyright", "keep", "none") != "none"
        isFast = try values.word("compression", of: "fast") != nil
        redirectsOnError = try values.word("onerror", of: "redirect") != nil
        let zoom = try values.number("zoom", in: 0...1) ?? 0
        if position == .gravity(.face) { self.zoom = Int((100 * zoom).rounded()) }
        _ = try values.word("upscale", of: "interpolate", "generate")
        for name in ["slow-connection-quality", "upscale"] + (position == .gravity(.face) ? [] : ["zoom"]) {
            if let value = try values[name] { ignored.append("\(name)=\(value)") }
        }
    }

    private mutating func readEffects(_ values: FrontEndParameters) throws(APIError) {
        func percent(_ name: String) throws(APIError) -> Int {
            guard let factor = try values.number(name, in: 0...4) else { return 100 }
            return factor == 0 && name != "saturation" ? 100 : Int((100 * factor).rounded())
        }
        if let text = try values.word("rotate", of: "90", "180", "270") { operations.rotation = Int(text) ?? 0 }
        operations.flip = try values.choice("flip")
        operations[.brightness] = try percent("brightness")
        operations[.contrast] = try percent("contrast")
        operations[.saturation] = try percent("saturation")
        // A radius is two standard deviations.
        operations[.blur] = Int((50 * (try values.number("blur", in: 0...250) ?? 0)).rounded())
        operations[.sharpen] = Int((100 * (try values.number("sharpen", in: 0...10) ?? 0)).rounded())
        gamma = try values.number("gamma", in: 0...10).flatMap { $0 > 0 && $0 != 1 ? Float(max($0, 0.01)) : nil }
    }

    private static func values(_ text: Substring) throws(APIError) -> FrontEndParameters {
        var values: [(name: String, value: String)] = []
        for option in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let option = Substring(option)
            let written = try FrontEndPath.decoded(option.prefix(before: UInt8(ascii: "=")), parameter: "options")
            let name = otherNames.first { $0.0 == written }?.1 ?? written
            guard let value = option.suffix(after: UInt8(ascii: "=")) else {
                throw .badParameter("options", "Must be name=value, separated by commas.")
            }
            guard name != "segment", name.prefix(before: UInt8(ascii: ".")) != "border" else {
                throw .unsupportedOption(name, "Alula does not support it.")
            }
            guard names.contains(name) else { throw .unknown(name, among: names) }
            values.append((name, try FrontEndPath.decoded(value, parameter: name)))
        }
        return FrontEndParameters(values)
    }

    private static func pixels(_ side: Int, ratio: Double) -> Int { max(1, Int((Double(side) * ratio).rounded())) }

    private static func position(_ text: String) throws(APIError) -> Position {
        switch text {
        case "auto": return .gravity(.attention)
        case "face": return .gravity(.face)
        case "left", "right", "top", "bottom", "center": return .gravity(ParameterGrammar.gravity(text) ?? .center)
        default:
            let coordinates = text.utf8.split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
            let shares = coordinates.compactMap { ParameterGrammar.decimal(Substring($0)) }.filter {
                (0...1).contains($0)
            }
            guard coordinates.count == 2, shares.count == 2 else {
                throw .badChoice("gravity", allowed: Self.positionNames)
            }
            return .point(x: Int((1_000 * shares[0]).rounded()), y: Int((1_000 * shares[1]).rounded()))
        }
    }

    private static func quality(_ values: FrontEndParameters, named name: String) throws(APIError) -> Int? {
        let text = try values[name]
        if let level = qualities.first(where: { $0.0 == text }) { return level.1 }
        return try values.whole(name, in: 1...100)
    }

    private static func trim(_ values: FrontEndParameters, ratio: Double) throws(APIError) -> Trim? {
        func side(_ name: String) throws(APIError) -> Int? {
            try values.whole(name, in: 0...FrontEndParameters.sides.upperBound).map {
                Int((Double($0) * ratio).rounded())
            }
        }
        let text = try values["trim"]
        if text == "border" {
            let tolerance = try values.whole("trim.border.tolerance", in: 0...255) ?? borderTolerance
            let border = ImageOperations.Trim(
                tolerance: max(1, tolerance), color: try values.color("trim.border.color"))
            return .border(border, keep: try side("trim.border.keep") ?? 0)
        }
        var sides = [
            try side("trim.top"), try side("trim.right"), try side("trim.bottom"), try side("trim.left"),
            try side("trim.width"), try side("trim.height"),
        ]
        if let text {
            sides = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
                .compactMap { ParameterGrammar.integer(Substring($0), in: 0...FrontEndParameters.sides.upperBound) }
                .map { Int((Double($0) * ratio).rounded()) }
            guard sides.count == 4 else { throw .badParameter("trim", "Must be TOP;RIGHT;BOTTOM;LEFT, or border.") }
            sides += [nil, nil]
        }
        guard sides.contains(where: { $0 != nil }) else { return nil }
        let margins = ImageOperations.Margins(
            top: sides[0] ?? 0, right: sides[1] ?? 0, bottom: sides[2] ?? 0, left: sides[3] ?? 0)
        return .pixels(margins, width: sides[4], height: sides[5])
    }
}
