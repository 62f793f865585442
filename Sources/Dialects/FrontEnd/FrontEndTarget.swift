import Imaging
import Text
import ThumbnailPipeline

/// The query of a target at the image endpoint of a front-end framework.
struct FrontEndTarget {
    /// The values by name, decoded; nil for one that stands twice.
    private let values: [ExactText: String?]

    /// Reads the query of a target that lies at `place` itself.
    ///
    /// - Throws: ``APIError`` for another path, or for text that is not percent-encoded.
    init(_ target: RequestedTarget, at place: DialectPlace) throws(APIError) {
        let text = target.target.string
        let path = place.remainder(of: text)?.prefix(before: UInt8(ascii: "?"))
        guard path == "" || path == "/" else { throw .noSuchRoute }
        var values: [ExactText: String?] = [:]
        for (name, value) in try RawQuery(target: text).decoded() {
            let name = ExactText(name)
            values[name] = values[name] == nil ? .some(value) : .some(nil)
        }
        self.values = values
    }

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

    /// A whole number in decimal digits, which may begin with zeros.
    ///
    /// - Throws: ``APIError/badParameter(_:_:)``.
    static func whole(_ text: String, _ name: String, in range: ClosedRange<Int>) throws(APIError) -> Int {
        guard !text.isEmpty, text.utf8.count <= 9, text.hasOnlyBytes({ (0x30...0x39).contains($0) }),
            let number = Int(text), range.contains(number)
        else {
            throw .badParameter(name, "Must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// The longest side that can be asked for.
    static let sides = 1...16_384
}

/// Where the sources of front-end frameworks lie: at absolute URLs, and below the operator's own origin.
struct FrontEndSources: Sendable {
    /// The origin of paths; nil if there is none.
    let base: SourceBase?
    /// Whether a path may lack its first slash.
    var acceptsBarePaths = false
    /// Whether a path may have a query.
    var acceptsQueries = true

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
        let beginning = text.prefix(8).asciiLowercased
        if beginning.hasPrefix("http://") || beginning == "https://" {
            return ExactText(try ParameterGrammar.source(text))
        }
        let isPath = text.hasPrefix("/") || acceptsBarePaths && !text.utf8.contains(UInt8(ascii: ":"))
        guard isPath, !text.isEmpty else {
            throw .badURL("The source must be a path, or an absolute http or https URL.")
        }
        guard acceptsQueries || !text.utf8.contains(UInt8(ascii: "?")) else {
            throw .badURL("A path must have no query.")
        }
        guard let base else { throw .badURL("The source is a path, and the setting baseOrigin names no origin.") }
        return ExactText(try ParameterGrammar.source(base.source(path: text)))
    }
}
