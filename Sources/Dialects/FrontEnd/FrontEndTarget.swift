package import HTTPTypes
import Recipes
import Text
import ThumbnailTypes

struct FrontEndTarget {
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

    func choice<Value: RawRepresentable & CaseIterable>(
        _ name: String
    ) throws(APIError) -> Value? where Value.RawValue == String {
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

    static func number(_ text: String, parameter name: String, in range: ClosedRange<Double>) throws(APIError) -> Double
    {
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

/// A path that consists of one segment with the options, followed by the source.
struct FrontEndPath {
    let options: Substring
    let source: Substring

    init(_ target: RequestedTarget, at prefix: PathPrefix) throws(APIError) {
        guard let rest = prefix.remainder(of: target.target.string)?.suffix(after: "/") else { throw .noSuchRoute }
        options = rest.prefix(before: UInt8(ascii: "/"), UInt8(ascii: "?"))
        guard !options.isEmpty else { throw .missingParameter("options") }
        guard let source = rest[options.endIndex...].suffix(after: "/"), !source.isEmpty else {
            throw .badURL("The source's URL is missing after the options.")
        }
        self.source = source
    }

    static func decoded(_ text: Substring, parameter name: String) throws(APIError) -> String {
        guard let decoded = URLEscape.decodeText(text.utf8) else {
            throw .badParameter(name, "The value is not percent-encoded UTF-8.")
        }
        return decoded
    }

    /// Returns an absolute URL percent-decoded once, or a path with the escapes of `%`, `?` and `#` kept.
    static func source(_ text: Substring) throws(APIError) -> String {
        let whole = try decoded(text, parameter: "source")
        if isAbsolute(whole) || ["http:/", "https:/"].contains(where: { whole.asciiLowercased.hasPrefix($0) }) {
            return whole
        }
        return try decoded(Substring(URLEscape.escapingMarks(in: text)), parameter: "source")
    }

    static func isAbsolute(_ text: some StringProtocol) -> Bool {
        let beginning = text.prefix(8).asciiLowercased
        return beginning.suffix(after: "http://") != nil || beginning == "https://"
    }
}

extension PathPrefix {
    func loggedPath(optionsOf target: RequestedTarget) -> String {
        guard let path = try? FrontEndPath(target, at: self) else { return self.path }
        return loggedPath(path.options)
    }
}

struct FrontEndSources: Sendable {
    /// The base URL of paths; nil if sources must be absolute URLs.
    let base: SourceBase?
    /// The endpoint's prefix; sources below it are rejected as loops.
    let prefix: PathPrefix
    /// Whether a path may omit its leading slash.
    var acceptsBarePaths = false
    var acceptsQueries = true
    /// Whether a path without a leading slash may contain a colon; it must not begin with a web scheme.
    var acceptsColons = false

    /// Returns the source; rejects `//host` and backslashes, which browsers treat as slashes.
    ///
    /// Paths that would leave the origin are rejected later, by the origin.
    func source(_ text: String) throws(APIError) -> ExactText {
        guard !text.hasPrefix("//"), !text.utf8.contains(UInt8(ascii: "\\")) else {
            throw .badURL("The source must not begin with two slashes or contain a backslash.")
        }
        if FrontEndPath.isAbsolute(text) {
            return ExactText(try ParameterGrammar.source(text))
        }
        let isPath = text.hasPrefix("/") || acceptsBarePaths && !begins(withScheme: text)
        guard isPath, !text.isEmpty else {
            throw .badURL("The source must be a path, or an absolute http or https URL.")
        }
        guard acceptsQueries || !text.utf8.contains(UInt8(ascii: "?")) else {
            throw .badURL("A path must have no query.")
        }
        let path = text.hasPrefix("/") ? text : "/" + text
        let decoded = URLEscape.decodeAgain(path.utf8) ?? path
        guard prefix.path == "/" || prefix.remainder(of: decoded) == nil else {
            throw .badURL("The source is below this endpoint's own prefix.")
        }
        guard let base else { throw .badURL("The source is a path, but baseOrigin is not set.") }
        return ExactText(try ParameterGrammar.source(base.source(path: text)))
    }

    private func begins(withScheme text: String) -> Bool {
        guard acceptsColons else { return text.utf8.contains(UInt8(ascii: ":")) }
        let scheme = text.prefix(before: UInt8(ascii: ":")).asciiLowercased
        return ["http", "https"].contains(scheme) && scheme.utf8.count < text.utf8.count || text.contains("://")
    }
}

package protocol FrontEndDialect: UnsignedDialect {}

extension FrontEndDialect {
    package func response(to problem: Problem) -> HTTPResponse {
        let status = problem.error.upstreamStatus.flatMap { 400...499 ~= $0 ? HTTPResponse.Status(code: $0) : nil }
        return problem.response(under: problem.error.response.code == .originError ? status : nil)
    }
}

/// The options and the source are segments of the path.
package protocol PathOptionsDialect: FrontEndDialect {}

extension PathOptionsDialect {
    package func loggedTarget(_ target: RequestedTarget) -> String { prefix.loggedPath(optionsOf: target) }

    package func loggedSource(_ target: RequestedTarget) -> String? { try? request(in: target).source.string }
}
