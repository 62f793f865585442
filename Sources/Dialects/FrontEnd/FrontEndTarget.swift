package import HTTPTypes
import Imaging
import Text
import ThumbnailTypes

/// The parameters of a target at the image endpoint of a front-end framework: those of its query, or others.
struct FrontEndTarget {
    /// The values by name, decoded; nil for one that stands twice.
    private let values: [ExactText: String?]
    /// The names of parameters that need no value.
    private let flags: Set<ExactText>

    /// Reads the query of a target that lies at `place` itself.
    ///
    /// - Throws: ``APIError`` for another path, or for text that is not percent-encoded.
    init(_ target: RequestedTarget, at place: DialectPlace) throws(APIError) {
        let text = target.target.string
        let path = place.remainder(of: text)?.prefix(before: UInt8(ascii: "?"))
        guard path == "" || path == "/" else { throw .noSuchRoute }
        self.init(try RawQuery(target: text).decoded(isForm: true))
    }

    /// Parameters with decoded names and values, and names of parameters that need no value.
    init(_ parameters: [(name: String, value: String)], flags: Set<ExactText> = []) {
        var values: [ExactText: String?] = [:]
        for (name, value) in parameters {
            let name = ExactText(name)
            values[name] = values[name] == nil ? .some(value) : .some(nil)
        }
        (self.values, self.flags) = (values, flags)
    }

    /// The name of an argument of a parameter that has several: the first one has the name of the parameter itself.
    static func name(_ index: Int, of parameter: String) -> String { index == 0 ? parameter : "\(parameter).\(index)" }

    /// Whether a parameter is there, without a value, too.
    func has(_ name: String) -> Bool { flags.contains(ExactText(name)) || values[ExactText(name)] != nil }

    /// The value of a parameter, which is one of `names`; nil if none of them is there.
    ///
    /// - Throws: ``APIError/repeatedParameter(_:)``.
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

    /// The value of a parameter that must be there and not empty.
    func required(_ name: String) throws(APIError) -> String {
        guard let value = try self[name], !value.isEmpty else { throw .missingParameter(name) }
        return value
    }

    /// The whole number of a parameter.
    func whole(_ names: String..., in range: ClosedRange<Int>) throws(APIError) -> Int? {
        for name in names {
            if let text = try self[name] { return try Self.whole(text, name, in: range) }
        }
        return nil
    }

    /// The number of a parameter.
    func number(_ name: String, in range: ClosedRange<Double>) throws(APIError) -> Double? {
        guard let text = try self[name] else { return nil }
        return try Self.number(text, name, in: range)
    }

    /// The word of a parameter, one of a closed list.
    func word(_ name: String, of allowed: String...) throws(APIError) -> String? {
        guard let text = try self[name] else { return nil }
        guard allowed.contains(text) else { throw .badChoice(name, allowed: allowed) }
        return text
    }

    /// The case of `Value` that a parameter names.
    func choice<Value: RawRepresentable & CaseIterable>(
        _ name: String
    ) throws(APIError) -> Value? where Value.RawValue == String {
        guard let text = try self[name] else { return nil }
        return try ParameterGrammar.choice(text, name)
    }

    /// The color of CSS that a parameter names.
    func color(_ name: String) throws(APIError) -> Color? {
        guard let text = try self[name] else { return nil }
        return try Self.color(text, name)
    }

    /// A whole number in decimal digits, which may begin with zeros.
    ///
    /// - Throws: ``APIError/badParameter(_:_:)``.
    static func whole(_ text: String, _ name: String, in range: ClosedRange<Int>) throws(APIError) -> Int {
        guard !text.isEmpty, text.utf8.count <= 9, text.hasOnlyBytes(\.isASCIIDigit),
            let number = Int(text), range.contains(number)
        else {
            throw .badParameter(name, "Must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// A decimal number.
    ///
    /// - Throws: ``APIError/badParameter(_:_:)``.
    static func number(_ text: String, _ name: String, in range: ClosedRange<Double>) throws(APIError) -> Double {
        guard let number = ParameterGrammar.decimal(text), range.contains(number) else {
            throw .badParameter(name, "Must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// A color of CSS.
    ///
    /// - Throws: ``APIError/badParameter(_:_:)``.
    static func color(_ text: String, _ name: String) throws(APIError) -> Color {
        guard let color = ColorGrammar.cssColor(text) else { throw .badParameter(name, "Not a color of CSS.") }
        return color
    }

    /// A place by one of its names: an edge, a corner or a point of the compass.
    ///
    /// - Throws: ``APIError/badChoice(_:allowed:)``.
    static func position(_ text: String, _ name: String) throws(APIError) -> Gravity {
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

    /// The words for formats that results are written in.
    static let formats = ["avif", "gif", "jpeg", "jpg", "png", "webp"]

    /// The format of a word, which is one of `words`.
    ///
    /// - Throws: ``APIError/unsupportedOption(_:_:)`` for a format that others write.
    static func format(
        _ word: String, _ name: String, of words: [String] = formats
    ) throws(APIError) -> ImageFormat {
        if words.contains(word), let format = ImageFormat(name: word) { return format }
        guard !["heic", "heif", "svg", "tiff"].contains(word) else {
            throw .unsupportedOption(name, "Results are not written as \(word.uppercased()).")
        }
        throw .badChoice(name, allowed: words)
    }

    /// The longest side that can be asked for.
    static let sides = 1...16_384
}

/// A target at the image endpoint of a front-end framework whose options are a segment of the path, and whose source is
/// the rest of it.
struct FrontEndPath {
    /// The options as they stand in the target, not decoded.
    let options: Substring
    /// The source as it stands in the target, not decoded; its query is that of the request.
    let source: Substring

    /// Cuts a target that lies below `place`.
    ///
    /// - Throws: ``APIError`` for another path, or if one of the two parts is missing.
    init(_ target: RequestedTarget, at place: DialectPlace) throws(APIError) {
        guard let rest = place.remainder(of: target.target.string)?.suffix(after: "/") else { throw .noSuchRoute }
        options = rest.prefix(before: UInt8(ascii: "/"), UInt8(ascii: "?"))
        guard !options.isEmpty else { throw .missingParameter("options") }
        guard let source = rest[options.endIndex...].suffix(after: "/"), !source.isEmpty else {
            throw .badURL("The source's URL is missing after the options.")
        }
        self.source = source
    }

    /// A part of the target, percent-decoded.
    ///
    /// - Throws: ``APIError/badParameter(_:_:)`` for text that cannot be decoded; `name` is that of the option.
    static func decoded(_ text: Substring, _ name: String) throws(APIError) -> String {
        guard let decoded = PercentEncoding.decode(Array(text.utf8)[...]) else {
            throw .badParameter(name, "The value is not percent-encoded UTF-8.")
        }
        return decoded
    }

    /// The source of a target whose path holds it: an absolute URL percent-decoded once, or a path in which the escapes
    /// of `%`, `?` and `#` stay, so that they are no more than they were.
    ///
    /// - Throws: ``APIError/badParameter(_:_:)`` for text that cannot be decoded.
    static func source(_ text: Substring) throws(APIError) -> String {
        let whole = try decoded(text, "source")
        if isAbsolute(whole) || ["http:/", "https:/"].contains(where: { whole.asciiLowercased.hasPrefix($0) }) {
            return whole
        }
        return try decoded(Substring(PercentEncoding.keepingMarks(text)), "source")
    }

    /// Whether a text is an absolute URL of http or https.
    static func isAbsolute(_ text: some StringProtocol) -> Bool {
        let beginning = text.prefix(8).asciiLowercased
        return beginning.suffix(after: "http://") != nil || beginning == "https://"
    }
}

/// Where the sources of front-end frameworks lie: at absolute URLs, and below the operator's own origin.
struct FrontEndSources: Sendable {
    /// The origin of paths; nil if there is none.
    let base: SourceBase?
    /// Where the targets lie that are no sources, because the endpoint would ask itself.
    let place: DialectPlace
    /// Whether a path may lack its first slash.
    var acceptsBarePaths = false
    /// Whether a path may have a query.
    var acceptsQueries = true
    /// Whether a path without its first slash may have a colon; then it begins with no scheme of the web.
    var acceptsColons = false

    /// The source that the parameter `name` names.
    ///
    /// `//host` and backslashes, which browsers take for slashes, never name a path. The origin refuses paths that
    /// would leave it.
    ///
    /// - Throws: ``APIError/badURL(_:)``.
    func source(_ text: String) throws(APIError) -> ExactText {
        guard !text.hasPrefix("//"), !text.utf8.contains(UInt8(ascii: "\\")) else {
            throw .badURL("The source must not begin with two slashes or hold a backslash.")
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
        let decoded = PercentEncoding.decodeAgain(Array(path.utf8)[...]) ?? path
        guard place.path == "/" || place.remainder(of: decoded) == nil else {
            throw .badURL("The source is a target of this endpoint.")
        }
        guard let base else { throw .badURL("The source is a path, and the setting baseOrigin names no origin.") }
        return ExactText(try ParameterGrammar.source(base.source(path: text)))
    }

    private func begins(withScheme text: String) -> Bool {
        guard acceptsColons else { return text.utf8.contains(UInt8(ascii: ":")) }
        let scheme = text.prefix(before: UInt8(ascii: ":")).asciiLowercased
        return ["http", "https"].contains(scheme) && scheme.utf8.count < text.utf8.count || text.contains("://")
    }
}

/// The grammar of a front end: failures of the origin that are the client's keep their status.
package protocol FrontEndDialect: UnsignedDialect {}

extension FrontEndDialect {
    /// The answer with the origin's own status, as far as that says that the client is at fault.
    package func response(to problem: Problem) -> HTTPResponse {
        let status = problem.error.upstreamStatus.flatMap { 400...499 ~= $0 ? HTTPResponse.Status(code: $0) : nil }
        return problem.response(under: problem.error.code == "origin_error" ? status : nil)
    }
}
