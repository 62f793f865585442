package import HTTPTypes
import Text

/// The condition of a request that validates a stored source (RFC 9111 section 4.3.1).
package struct SourceCondition: Hashable, Sendable {
    /// The URL that the entity tag belongs to: the one that responded last time.
    package let url: String
    package let eTag: String?
    package let lastModified: String?

    package init?(_ head: SourceHead) {
        url = head.url
        eTag = head.eTag.flatMap { Self.isSendable($0) ? $0 : nil }
        lastModified = head.lastModified.flatMap { _ in head.headerFields[.lastModified] }
        if eTag == nil, lastModified == nil { return nil }
    }

    var fields: HTTPFields {
        var fields = HTTPFields()
        if let eTag { fields.append(.ifNoneMatch, eTag) }
        if let lastModified { fields.append(.ifModifiedSince, lastModified) }
        return fields
    }

    /// Whether the tag is ASCII, so that it can be sent back byte for byte.
    private static func isSendable(_ tag: String) -> Bool {
        !tag.isEmpty && tag.utf8.allSatisfy(\.isVisibleASCII)
    }
}

/// A 304: the origin confirms that a stored source is unchanged.
package struct SourceConfirmation: Sendable {
    package let headerFields: HTTPFields
    package let requestedAt: HTTPDate
    package let receivedAt: HTTPDate
    package var timings = TransferTimings()
}

extension SourceHead {
    /// Fields that describe the stored body; a 304 does not change them (RFC 9111 section 3.2).
    private static let bodyNames: Set<HTTPField.Name> = [.contentType]
    /// Fields about the time of the stored response; dropped unless the 304 has them.
    private static let momentNames: Set<HTTPField.Name> = [.age, .date]

    /// Updates the head by RFC 9111 sections 3.2 and 4.3.4; nil if the 304 is for another version.
    package func confirmed(by confirmation: SourceConfirmation) -> SourceHead? {
        let new = confirmation.headerFields
        if let tag = new[.eTag], let eTag, Self.opaque(tag) != Self.opaque(eTag) { return nil }
        let replaced = Set(new.map(\.name)).union(Self.momentNames).subtracting(Self.bodyNames)
        let merged =
            headerFields.filter { !replaced.contains($0.name) } + new.filter { !Self.bodyNames.contains($0.name) }
        return SourceHead(
            identity: identity, url: url, status: status, validator: validator, headerFields: HTTPFields(merged),
            selectingFields: selectingFields, requestedAt: confirmation.requestedAt,
            receivedAt: confirmation.receivedAt)
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
