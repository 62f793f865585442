import Downloading
package import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

package struct CacheTagField: Sendable, Equatable {
    package let name: HTTPField.Name
    private let separator: String

    /// Fields with spaces between tags (Fastly, Varnish); other fields use commas (Cloudflare, Akamai).
    private static let spaced: [HTTPField.Name?] = [HTTPField.Name("Surrogate-Key"), HTTPField.Name("xkey")]
    /// Fields of the service, and fields that frame a message.
    private static let taken: [HTTPField.Name] =
        [
            .contentType, .contentLength, .transferEncoding, .connection, .date, .eTag, .lastModified, .cacheControl,
            .age,
            .vary, .contentDisposition, .cacheStatus, .serverTiming, .location, .xRequestID, .xContentTypeOptions,
            .contentSecurityPolicy, .crossOriginResourcePolicy, .accessControlAllowOrigin, .accessControlExposeHeaders,
            .acceptCH, .criticalCH, .retryAfter,
        ] + HTTPField.Name.ownResponseFields

    /// Returns nil if the name is invalid, or the field has another meaning.
    package init?(_ name: String) {
        guard name.utf8.count <= 64, let field = HTTPField.Name(name), !Self.taken.contains(field) else { return nil }
        self.name = field
        separator = Self.spaced.contains(field) ? " " : ","
    }

    func value(_ resolved: ResolvedRequest) -> String? {
        let sources = (try? resolved.sources.get())?.filter { !$0.isUpload } ?? []
        let tags = resolved.request.tags.map(\.string) + sources.map { CacheTag.ofSource(named: $0.name) }
        return tags.isEmpty ? nil : tags.joined(separator: separator)
    }
}
