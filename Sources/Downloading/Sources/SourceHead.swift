import Crypto
package import HTTPTypes

/// The header of an origin's response for one version of a source, with the data to check and validate it.
///
/// A class, because it is passed along with every response.
package final class SourceHead: Sendable {
    /// Other types that servers use for SVG.
    static let textTypes = ["text/plain", "text/xml", "application/xml"]

    package let identity: SourceIdentity
    /// The canonical URL that responded: the identity's or the last redirect's target.
    package let url: String
    package let status: Int
    package let validator: SourceValidator
    package let headerFields: HTTPFields
    /// The request fields named in `Vary` (RFC 9111 section 4.1); missing ones have an empty value.
    package let selectingFields: HTTPFields
    package let requestedAt: HTTPDate
    /// When the response was received, by the wall clock.
    package let receivedAt: HTTPDate
    package let freshness: SourceFreshness
    package let mediaType: MediaType?
    /// `Last-Modified`; nil if it is missing or invalid.
    package let lastModified: HTTPDate?

    private static let keptNames: Set<HTTPField.Name> = [
        .age, .cacheControl, .contentType, .date, .eTag, .expires, .lastModified, .vary,
    ]

    /// Keeps only the fields that are needed later.
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
        let isExpected = identity.rules.origin?.expectation.statuses?.contains(status) == true
        freshness = SourceFreshness(
            status: isExpected ? 200 : status, headerFields: headerFields, requestedAt: requestedAt,
            receivedAt: receivedAt, isPrivate: identity.isPrivate)
        mediaType = headerFields[.contentType].flatMap { MediaType($0) }
        lastModified = headerFields[.lastModified].flatMap { HTTPDate($0, now: receivedAt) }
    }

    /// Whether the origin declares a text type; of these, only SVG is an image.
    package var isText: Bool { mediaType.map { Self.textTypes.contains($0.description) } ?? false }

    package var eTag: String? { headerFields[.eTag] }

    /// Uses the digest as the validator, unless an entity tag identifies the version.
    func identified(by digest: @autoclosure () -> SHA256Digest) -> SourceHead {
        guard case .digest = validator else { return self }
        return SourceHead(
            identity: identity, url: url, status: status, validator: SourceValidator(digest()),
            headerFields: headerFields, selectingFields: selectingFields, requestedAt: requestedAt,
            receivedAt: receivedAt)
    }

    package var byteCount: Int {
        var count = 256
        // After a redirect, the URL is a separate string.
        if url != identity.url.canonical { count += url.utf8.count / 8 * 9 + 48 }
        for field in headerFields { count += field.name.rawName.utf8.count + field.value.utf8.count + 64 }
        for field in selectingFields { count += field.name.rawName.utf8.count + field.value.utf8.count + 64 }
        return count
    }
}

extension SourceHead {
    /// Returns the request fields that `Vary` of the response names.
    static func selectingFields(_ headerFields: HTTPFields, of requestFields: HTTPFields) -> HTTPFields {
        let names = HTTPSyntax.list(headerFields[.vary] ?? "").compactMap { HTTPField.Name($0) }
        return HTTPFields(names.map { HTTPField(name: $0, value: requestFields[$0] ?? "") })
    }

    /// Whether a request with these fields would select this version (RFC 9111 section 4.1).
    package func isSelected(by requestFields: HTTPFields) -> Bool {
        selectingFields.allSatisfy { $0.value == requestFields[$0.name] ?? "" }
    }
}
