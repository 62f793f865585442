import Recipes
import Text

/// The parameters of a query, or the options in a path, by name.
struct FrontEndParameters {
    /// The values by name; nil for a repeated parameter.
    private let values: [ExactText: String?]
    private let flags: Set<ExactText>

    init(_ target: RequestedTarget, at prefix: PathPrefix) throws(APIError) {
        let text = target.target.string
        let path = prefix.remainder(of: text)?.prefix(before: UInt8(ascii: "?"))
        guard path == "" || path == "/" else { throw .noSuchRoute }
        self.init(try RawQuery(target: text).decoded(isForm: true))
    }

    init(_ parameters: [(name: String, value: String)], flags: Set<ExactText> = []) {
        var values: [ExactText: String?] = [:]
        for (name, value) in parameters {
            let name = ExactText(name)
            values[name] = values[name] == nil ? .some(value) : .some(nil)
        }
        self.values = values
        self.flags = flags
    }

    static func name(_ index: Int, of parameter: String) -> String { index == 0 ? parameter : "\(parameter).\(index)" }

    func has(_ name: String) -> Bool { flags.contains(ExactText(name)) || values[ExactText(name)] != nil }

    subscript(_ names: String...) -> String? {
        get throws(APIError) {
            for name in names {
                guard let value = values[ExactText(name)] else { continue }
                guard let value else { throw .repeatedParameter(name) }
                return value
            }
            return nil
        }
    }

    func required(_ name: String) throws(APIError) -> String {
        guard let value = try self[name], !value.isEmpty else { throw .missingParameter(name) }
        return value
    }

    func whole(_ names: String..., in range: ClosedRange<Int>) throws(APIError) -> Int? {
        for name in names {
            if let text = try self[name] { return try Self.whole(text, parameter: name, in: range) }
        }
        return nil
    }

    func number(_ name: String, in range: ClosedRange<Double>) throws(APIError) -> Double? {
        guard let text = try self[name] else { return nil }
        return try Self.number(text, parameter: name, in: range)
    }

    func word(_ name: String, of allowed: String...) throws(APIError) -> String? {
        guard let text = try self[name] else { return nil }
        guard allowed.contains(text) else { throw .badChoice(name, allowed: allowed) }
        return text
    }

    func choice<Value: RawRepresentable & CaseIterable>(_ name: String) throws(APIError) -> Value?
    where Value.RawValue == String {
        guard let text = try self[name] else { return nil }
        return try ParameterGrammar.choice(text, parameter: name)
    }

    func color(_ name: String) throws(APIError) -> Color? {
        guard let text = try self[name] else { return nil }
        return try Self.color(text, parameter: name)
    }

    static func whole(_ text: String, parameter name: String, in range: ClosedRange<Int>) throws(APIError) -> Int {
        guard !text.isEmpty, text.utf8.count <= 9, text.hasOnlyBytes(\.isASCIIDigit),
            let number = Int(text), range.contains(number)
        else {
            throw .badParameter(name, "Must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    static func number(
        _ text: String, parameter name: String, in range: ClosedRange<Double>
    ) throws(APIError) -> Double {
        guard let number = ParameterGrammar.decimal(text), range.contains(number) else {
            throw .badParameter(name, "Must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    static func color(_ text: String, parameter name: String) throws(APIError) -> Color {
        guard let color = ColorGrammar.cssColor(text) else { throw .badParameter(name, "Must be a CSS color.") }
        return color
    }

    static func position(_ text: String, parameter name: String) throws(APIError) -> Gravity {
        guard let position = positions.first(where: { $0.names.contains(text) }) else {
            throw .badChoice(name, allowed: positions.flatMap(\.names))
        }
        return position.gravity
    }

    private static let positions: [(names: [String], gravity: Gravity)] = [
        (["center", "centre", "center center"], .center), (["top", "north"], .top), (["bottom", "south"], .bottom),
        (["left", "west"], .left), (["right", "east"], .right), (["right top", "northeast"], .topRight),
        (["right bottom", "southeast"], .bottomRight), (["left bottom", "southwest"], .bottomLeft),
        (["left top", "northwest"], .topLeft), (["entropy"], .entropy), (["attention"], .attention),
    ]

    static let formats = ["avif", "gif", "jpeg", "jpg", "png", "webp"]

    static func format(
        _ word: String, parameter name: String, of words: [String] = formats
    ) throws(APIError) -> ImageFormat {
        if words.contains(word), let format = ImageFormat(name: word) { return format }
        guard !["heic", "heif", "svg", "tiff"].contains(word) else {
            throw .unsupportedOption(name, "Alula does not write \(word.uppercased()).")
        }
        throw .badChoice(name, allowed: words)
    }

    static let sides = 1...16_384
}
