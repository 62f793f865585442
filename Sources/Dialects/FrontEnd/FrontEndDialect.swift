package import HTTPTypes
import Text
import ThumbnailTypes

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
