package import HTTPTypes

/// An origin's response for one version of a source, without its body: enough to judge, validate and describe it.
///
/// With the body's bytes this is the stored response; both can be written to disk and read back. Immutable and shared
/// by reference, because every answer passes it on.
package final class SourceHead: Sendable {
    /// The identity of the request for it.
    package let identity: SourceIdentity
    /// The URL that answered, in canonical form: the identity's own, or the last redirect's target.
    package let url: String
    /// The status of the answer.
    package let status: Int
    /// The validator of this version.
    package let validator: SourceValidator
    /// The fields of the answer that matter later.
    package let headerFields: HTTPFields
    /// Our request's fields that the answer varies by (RFC 9111 section 4.1), an absent one with an empty value.
    package let selectingFields: HTTPFields
    /// When the request was sent, by the wall clock.
    package let requestedAt: HTTPDate
    /// When the answer had been received, by the wall clock.
    package let receivedAt: HTTPDate
    /// The meaning of the fields for a shared cache.
    package let freshness: SourceFreshness
    /// The origin's media type; nil if there is none or it cannot be read.
    package let mediaType: MediaType?
    /// `Last-Modified`, if it can be read.
    package let lastModified: HTTPDate?

    /// Fields that are kept; all others are dropped.
    private static let keptNames: Set<HTTPField.Name> = [
        .age, .cacheControl, .contentType, .date, .eTag, .expires, .lastModified, .vary,
    ]

    /// The header of a stored response.
    ///
    /// - Parameters:
    ///   - identity: The identity of the request.
    ///   - url: The URL that answered, in canonical form.
    ///   - status: The answer's status.
    ///   - validator: Identifies this version.
    ///   - headerFields: The answer's fields; those that are not needed later are dropped.
    ///   - selectingFields: See the property.
    ///   - requestedAt: When the request was sent.
    ///   - receivedAt: When the answer had been received.
    package init(
        identity: SourceIdentity, url: String? = nil, status: Int = 200, validator: SourceValidator,
        headerFields: HTTPFields, selectingFields: HTTPFields = [:], requestedAt: HTTPDate, receivedAt: HTTPDate
    ) {
        self.identity = identity
        self.url = url ?? identity.url.canonical
        self.status = status
        self.validator = validator
        self.headerFields = HTTPFields(headerFields.filter { Self.keptNames.contains($0.name) })
        self.selectingFields = selectingFields
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        freshness = SourceFreshness(
            status: status, headerFields: headerFields, requestedAt: requestedAt, receivedAt: receivedAt)
        mediaType = headerFields[.contentType].flatMap { MediaType($0) }
        lastModified = headerFields[.lastModified].flatMap { HTTPDate($0, now: receivedAt) }
    }

    /// Types that servers have for SVG besides its own.
    static let textTypes = ["text/plain", "text/xml", "application/xml"]

    /// Whether the origin calls the source text, of which only drawings are images.
    package var isText: Bool { mediaType.map { Self.textTypes.contains($0.description) } ?? false }

    /// `ETag` as sent, weak ones included.
    package var eTag: String? { headerFields[.eTag] }

    /// Bytes of memory that it takes besides its identity, roughly.
    package var byteCount: Int {
        var count = 256
        // After a redirect it is a text of its own.
        if url != identity.url.canonical { count += url.utf8.count / 8 * 9 + 48 }
        for field in headerFields { count += field.name.rawName.utf8.count + field.value.utf8.count + 64 }
        for field in selectingFields { count += field.name.rawName.utf8.count + field.value.utf8.count + 64 }
        return count
    }
}

extension SourceHead {
    /// Our request's fields that an answer with these header fields varies by.
    static func selectingFields(_ headerFields: HTTPFields, of requestFields: HTTPFields) -> HTTPFields {
        let names = HTTPSyntax.list(headerFields[.vary] ?? "").compactMap { HTTPField.Name($0) }
        return HTTPFields(names.map { HTTPField(name: $0, value: requestFields[$0] ?? "") })
    }

    /// Whether a request with these fields would select this version (RFC 9111 section 4.1).
    package func isSelected(by requestFields: HTTPFields) -> Bool {
        selectingFields.allSatisfy { $0.value == requestFields[$0.name] ?? "" }
    }
}
