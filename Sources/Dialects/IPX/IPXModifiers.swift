import Recipes
import Text

struct IPXModifiers: Hashable, Sendable {
    /// The modifiers as written, in ASCII; they determine all other properties.
    let text: String
    var box = RequestedBox()
    private(set) var enlarges = false
    private(set) var fit = Fit.cover
    private(set) var gravity = Gravity.center
    private(set) var background: Color?
    private(set) var flattens = false
    var quality: Int?
    /// The output format; nil selects the first of ``accepted``, or else the source's format.
    private(set) var format: ImageFormat?
    /// The formats to negotiate, best first, then the default; nil ignores `Accept`.
    private(set) var accepted: [ImageFormat]?
    private(set) var keepsFrames = false
    private(set) var isUpright = false
    private(set) var rotation = 0
    private(set) var flips = QuarterTurn.none
    private(set) var trim: Int?
    private(set) var part: CropStep?
    private(set) var steps: RenderSteps = []
    private(set) var ignored: [String] = []

    private static let compass: [Gravity] = [
        .center, .top, .right, .bottom, .left, .topRight, .bottomRight, .bottomLeft, .topLeft,
    ]
    init(_ text: Substring, accept: String?) throws(APIError) {
        self.text = String(text)
        let arguments = try IPXArguments(text)
        let values = arguments.parameters
        try readSize(values)
        try readFormat(values, accept: accept)
        try readTurns(values)
        try readEdges(values)
        try steps.appendEffects(values)
        let kernel = try values.word(
            "kernel", of: "nearest", "linear", "cubic", "mitchell", "lanczos2", "lanczos3", "mks2013", "mks2021")
        ignored = arguments.ignored + (kernel.map { ["kernel_\($0)"] } ?? [])
    }

    private mutating func readSize(_ values: FrontEndParameters) throws(APIError) {
        // Order matters: a later name resets earlier ones.
        for name in ["h", "height", "resize", "s", "w", "width"] where values.has(name) {
            let isBox = name == "s" || name == "resize"
            let text = try values.required(name)
            let sides = text.utf8.split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
                .map { ParameterGrammar.integer(Substring($0), in: 1...999_999) }
            guard sides.count <= (isBox ? 2 : 1), let first = sides[0], let last = sides[sides.count - 1] else {
                throw .badParameter(name, "Must be a whole number, or WIDTHxHEIGHT in s and resize.")
            }
            let isWidth = name.utf8.first == UInt8(ascii: "w")
            box.width = isBox || isWidth ? first : nil
            box.height = isBox || !isWidth ? last : nil
        }
        enlarges = values.has("enlarge")
        fit = try values.choice("fit") ?? .cover
        for name in ["pos", "position"] {
            guard let text = try values[name] else { continue }
            switch ParameterGrammar.integer(text, in: 0...17) {
            case 16: gravity = .entropy
            case 17: gravity = .attention
            case let number? where Self.compass.indices.contains(number): gravity = Self.compass[number]
            default:
                let words = text.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: " ") : $0 }
                gravity = try FrontEndParameters.position(String(decoding: words, as: UTF8.self), parameter: name)
            }
        }
    }

    private mutating func readFormat(_ values: FrontEndParameters, accept: String?) throws(APIError) {
        for name in ["q", "quality"] { quality = try values.whole(name, in: 1...100) ?? quality }
        for name in ["b", "background"] { background = try values.color(name) ?? background }
        flattens = values.has("flatten")
        let isAnimated = values.has("a") || values.has("animated")
        if let text = try values["format", "f"] {
            // Words that are not image formats are ignored.
            let isKnown = FrontEndParameters.formats.contains(text) || ["tiff", "heif", "heic"].contains(text)
            format = try isKnown ? FrontEndParameters.format(text, parameter: "f") : nil
            if text == "auto" {
                let supported: [ImageFormat] = isAnimated ? [.webp, .gif] : [.avif, .webp, .jpeg, .png, .gif]
                accepted = AcceptedFormats.named(of: supported, in: accept) + [isAnimated ? .gif : .jpeg]
            }
        }
        keepsFrames = isAnimated
    }

    private mutating func readTurns(_ values: FrontEndParameters) throws(APIError) {
        isUpright = values.has("autoorient")
        if let angle = try values.number("rotate", in: -3_600...3_600) {
            rotation = (Int(angle) % 360 + 360) % 360
            guard angle == angle.rounded(), rotation.isMultiple(of: 90) || box == RequestedBox() else {
                throw .unsupportedOption("rotate", "Whole degrees are turned, with a size quarters only.")
            }
        } else if values.has("rotate") {
            isUpright = true
        }
        if values.has("flip") { flips = .mirrorY }
        if values.has("flop") { flips = flips.then(.mirrorX) }
    }

    private mutating func readEdges(_ values: FrontEndParameters) throws(APIError) {
        if values.has("trim") {
            trim = min(255, max(1, Int((try values.number("trim", in: 0...65_535) ?? 10).rounded())))
        }
        for name in ["crop", "extract"] where values.has(name) {
            var sides: [Int] = []
            for (index, minimum) in [0, 0, 1, 1].enumerated() {
                let name = FrontEndParameters.name(index, of: name)
                sides.append(
                    try FrontEndParameters.whole(try values.required(name), parameter: name, in: minimum...100_000_000))
            }
            part = CropStep(x: sides[0], y: sides[1], size: PixelSize(width: sides[2], height: sides[3]))
        }
        guard values.has("extend") else { return }
        func side(_ index: Int) throws(APIError) -> Int {
            try values.whole(FrontEndParameters.name(index, of: "extend"), in: 0...10_000) ?? 0
        }
        let margins = ImageOperations.Margins(
            top: try side(0), right: try side(1), bottom: try side(2), left: try side(3))
        let word = try values.word("extend.4", of: "background", "copy", "repeat", "mirror")
        if let edge = word.flatMap({ ImageOperations.Margins.Extend(rawValue: $0) }) {
            steps.append(EdgeStep(edge, margins: margins))
        } else {
            steps.append(MarginStep(margins, color: background ?? .black))
        }
    }
}

struct IPXArguments {
    let parameters: FrontEndParameters
    let ignored: [String]

    private static let supported = Set(
        """
        w width h height s resize enlarge fit pos position kernel q quality b background f format a animated flatten \
        autoorient rotate flip flop trim crop extract extend sharpen median blur dilate erode gamma negate normalize \
        threshold linear modulate brightness saturation hue lightness tint grayscale clahe opacity unflatten
        """.split(separator: " ").map { ExactText($0) })

    init(_ text: Substring) throws(APIError) {
        var named: [ExactText: [Substring]] = [:]
        var ignored: [String] = []
        for modifier in text.utf8.split(whereSeparator: { ",&".utf8.contains($0) }) {
            let name = Substring(modifier.prefix { !"_:=".utf8.contains($0) })
            let joined = modifier[name.endIndex...].dropFirst().map { ":=".utf8.contains($0) ? UInt8(ascii: "_") : $0 }
            guard let decoded = URLEscape.decodeText(joined[...]) else {
                throw .badParameter("modifiers", "The value is not percent-encoded UTF-8.")
            }
            let key = ExactText(name)
            guard Self.supported.contains(key) else {
                if !name.isEmpty { ignored.append(String(Substring(modifier).prefix(APIError.longestQuotedName))) }
                continue
            }
            named[key] = decoded.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
                .map { Substring($0) }
        }
        for name in ["clahe", "opacity", "unflatten"] where named[ExactText(name)] != nil {
            throw .unsupportedOption(name, "Alula does not support it.")
        }
        self.ignored = ignored
        parameters = FrontEndParameters(
            named.flatMap { name, arguments in
                arguments.enumerated().filter { !$0.element.isEmpty }
                    .map { (FrontEndParameters.name($0.offset, of: name.string), String($0.element)) }
            }, flags: Set(named.keys))
    }
}
