import Crypto
import HTTPTypes
import Text

enum Preconditions {
    static func areStated(in fields: HTTPFields) -> Bool {
        fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince)
    }

    /// Whether the response is 304; `If-None-Match` takes precedence over `If-Modified-Since` (section 13.1.3).
    static func isNotModified(_ fields: HTTPFields, eTag: String, lastModified: HTTPDate?) -> Bool {
        if let candidates = fields[.ifNoneMatch] { return matches(candidates, eTag: eTag) }
        guard let lastModified, let text = fields[.ifModifiedSince], let since = HTTPDate(text) else { return false }
        return lastModified <= since
    }

    /// Returns the 200, or a 304 with the common fields and the fields that section 15.4.5 requires.
    static func response(
        _ response: HTTPResponse, to fields: HTTPFields, eTag: String, lastModified: HTTPDate? = nil
    ) -> HTTPResponse {
        guard isNotModified(fields, eTag: eTag, lastModified: lastModified) else { return response }
        let kept = response.headerFields.filter { $0.name != .contentType && $0.name != .contentDisposition }
        return HTTPResponse(status: .notModified, headerFields: HTTPFields(kept), body: response.body)
    }

    /// Compares weakly (section 8.8.3.2) with a list of entity tags, or `*`.
    private static func matches(_ candidates: String, eTag: String) -> Bool {
        if candidates == eTag || candidates == "*" { return true }
        return HTTPSyntax.list(candidates).contains { $0 == eTag || $0.suffix(after: "W/").map { $0 == eTag } == true }
    }

    static func eTag(of text: String) -> String {
        let bytes = Array(text.utf8)
        return unsafe "\"\(Base64URL.encode(Array(SHA256.hash(bytes.span.bytes).bytes.prefix(16))))\""
    }
}
