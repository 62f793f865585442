import Imaging
import Text
import ThumbnailPipeline

/// Collects the parameters of a watermark one by one, then judges them together.
struct WatermarkReader {
    /// The watermark as the request names it, and the defaults that its name stands for.
    private var named: Vocabulary.Watermark?
    private var position: Gravity?
    private var x: Int?
    private var y: Int?
    private var opacity: Int?
    private var scale: Int?
    private var isTiled: Bool?
    /// The first parameter that needs a watermark.
    private var firstOption: String?

    /// Bounds of `watermarkX` and `watermarkY`, in CSS pixels.
    private static let farthest = 16_384
    /// Longest name of a source, in bytes after percent-decoding.
    private static let longestSource = 2_048

    /// Reads one parameter of a watermark.
    mutating func read(
        _ parameter: ThumbnailParameter, _ value: String, _ name: String, _ vocabulary: Vocabulary
    ) throws(APIError) {
        if parameter != .watermark, firstOption == nil { firstOption = name }
        switch parameter {
        case .watermarkPosition: position = try Self.place(value, name)
        case .watermarkX: x = try Self.distance(value, name)
        case .watermarkY: y = try Self.distance(value, name)
        case .watermarkOpacity:
            opacity = try Self.require(
                ParameterGrammar.integer(value, in: 1...100), name, "Must be a whole number from 1 to 100.")
        case .watermarkScale:
            scale = try Self.require(
                Self.tenThousandths(value, in: 100...10_000), name,
                "Must be 0.01 to 1 with at most four decimals.")
        case .watermarkTile: isTiled = try ParameterGrammar.flag(value, name)
        default: named = try Self.watermark(value, name, vocabulary)
        }
    }

    /// The watermark, if there is one.
    func watermark() throws(APIError) -> Vocabulary.Watermark? {
        guard let named else {
            if let firstOption { throw .badParameter(firstOption, "Needs a watermark.") }
            return nil
        }
        return Vocabulary.Watermark(source: named.source, options: options(over: named.options))
    }

    /// The options that were read, with `defaults` for the others.
    func options(over defaults: WatermarkOptions) -> WatermarkOptions {
        var options = defaults
        if let position { options.position = position }
        if let x { options.x = x }
        if let y { options.y = y }
        if let opacity { options.opacity = opacity }
        if let scale { options.scale = scale }
        if let isTiled { options.isTiled = isTiled }
        return options
    }

    /// Writes the parameters that read back as a watermark: the source and what is not a default.
    static func append(_ watermark: Vocabulary.Watermark, _ append: (ThumbnailParameter, String?) -> Void) {
        let (options, standard) = (watermark.options, WatermarkOptions())
        append(.watermark, PercentEncoding.encode(watermark.source.string))
        append(
            .watermarkPosition,
            options.position == standard.position ? nil : ParameterGrammar.name(of: options.position))
        append(.watermarkX, options.x == 0 ? nil : String(options.x))
        append(.watermarkY, options.y == 0 ? nil : String(options.y))
        append(.watermarkOpacity, options.opacity == standard.opacity ? nil : String(options.opacity))
        append(.watermarkScale, options.scale.map(text(tenThousandths:)))
        append(.watermarkTile, options.isTiled ? "1" : nil)
    }

    /// A text with a colon is a source, like `url`; any other one is a name of the settings file.
    private static func watermark(
        _ value: String, _ name: String, _ vocabulary: Vocabulary
    ) throws(APIError) -> Vocabulary.Watermark {
        guard value.utf8.contains(UInt8(ascii: ":")) else {
            return try require(vocabulary.watermarks[ExactText(value)], name, "There is no watermark of this name.")
        }
        guard value.utf8.count <= longestSource else {
            throw .badParameter(name, "The watermark's URL is longer than \(longestSource) bytes.")
        }
        return Vocabulary.Watermark(source: ExactText(value))
    }

    private static func place(_ value: String, _ name: String) throws(APIError) -> Gravity {
        switch ParameterGrammar.gravity(value) {
        case .attention, .entropy, nil: throw .badChoice(name, allowed: ParameterGrammar.placeNames)
        case let place?: return place
        }
    }

    private static func distance(_ value: String, _ name: String) throws(APIError) -> Int {
        let digits = value.utf8.first == UInt8(ascii: "-") ? value.dropFirst() : value[...]
        let isNegative = digits.utf8.count < value.utf8.count
        let number = ParameterGrammar.integer(digits, in: (isNegative ? 1 : 0)...farthest)
        return try require(
            number.map { isNegative ? -$0 : $0 }, name, "Must be a whole number from -\(farthest) to \(farthest).")
    }

    /// A decimal fraction of at most four decimals, in ten-thousandths within `range`.
    private static func tenThousandths(_ text: String, in range: ClosedRange<Int>) -> Int? {
        let whole = text.prefix(before: UInt8(ascii: "."))
        guard var value = ParameterGrammar.integer(whole, in: 0...1).map({ $0 * 10_000 }) else { return nil }
        if let decimals = text.suffix(after: UInt8(ascii: ".")) {
            guard (1...4).contains(decimals.utf8.count),
                decimals.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int((decimals + "000").prefix(4))
            else { return nil }
            value += number
        }
        return range.contains(value) ? value : nil
    }

    /// The text of a number of ten-thousandths, without trailing zeros.
    private static func text(tenThousandths: Int) -> String {
        guard tenThousandths % 10_000 != 0 else { return String(tenThousandths / 10_000) }
        var decimals = String(tenThousandths % 10_000 + 10_000).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return "\(tenThousandths / 10_000).\(decimals)"
    }

    private static func require<Value>(_ value: Value?, _ name: String, _ reason: String) throws(APIError) -> Value {
        guard let value else { throw .badParameter(name, reason) }
        return value
    }
}

extension ThumbnailRequest {
    /// The watermark of a request by Alula's own rules.
    var watermark: Vocabulary.Watermark? {
        guard let options = ownOptions?.watermark, let named = additional.first(where: { $0.role == .watermark })
        else { return nil }
        return Vocabulary.Watermark(source: named.source, options: options)
    }
}
