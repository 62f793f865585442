import Downloading
package import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// The field that tells caches in front of the service the tags of an answer.
package struct CacheTagField: Sendable, Equatable {
    /// The field's name.
    package let name: HTTPField.Name
    private let separator: String

    /// Names of fields whose readers take spaces between tags (Fastly, Varnish); others take commas (Cloudflare,
    /// Akamai).
    private static let spaced: [HTTPField.Name?] = [HTTPField.Name("Surrogate-Key"), HTTPField.Name("xkey")]
    /// The service's own fields, and those that frame a message.
    private static let taken: [HTTPField.Name] =
        [
            .contentType, .contentLength, .transferEncoding, .connection, .date, .eTag, .lastModified, .cacheControl,
            .age,
            .vary, .contentDisposition, .cacheStatus, .serverTiming, .location, .xRequestID, .xContentTypeOptions,
            .contentSecurityPolicy, .crossOriginResourcePolicy, .accessControlAllowOrigin, .accessControlExposeHeaders,
            .acceptCH, .criticalCH, .retryAfter,
        ] + HTTPField.Name.ownAnswerFields

    /// The field of this name; nil if it is no name, or that of a field that means something else.
    package init?(_ name: String) {
        guard name.utf8.count <= 64, let field = HTTPField.Name(name), !Self.taken.contains(field) else { return nil }
        self.name = field
        separator = Self.spaced.contains(field) ? " " : ","
    }

    /// The value for an answer: the tags of its request, and those of its sources.
    func value(_ request: RecurringRequest) -> String? {
        let sources = (try? request.sources.get())?.filter { !$0.isGiven } ?? []
        let tags = request.request.tags.map(\.string) + sources.map { CacheTag.ofSource(named: $0.name) }
        return tags.isEmpty ? nil : tags.joined(separator: separator)
    }
}
