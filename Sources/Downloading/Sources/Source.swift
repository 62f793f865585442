package import HTTPTypes
package import Memory

/// What makes two downloads the same: requests with equal identities share a flight and a cache entry.
///
/// Part of every key of every cache: one object, hashed once.
package final class SourceIdentity: Hashable, Sendable {
    /// The URL as it was asked for, before any redirect.
    package let url: SourceURL
    /// The configured origin whose headers, credentials and TLS policy apply; nil for strangers' sources.
    package let originName: String?
    private let hash: Int

    /// The identity of `url` under the settings of `originName`.
    package init(url: SourceURL, originName: String? = nil) {
        self.url = url
        self.originName = originName
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(originName)
        hash = hasher.finalize()
    }

    /// Identities are equal when URL and origin are.
    package static func == (left: SourceIdentity, right: SourceIdentity) -> Bool {
        left === right || (left.hash == right.hash && left.url == right.url && left.originName == right.originName)
    }

    /// Hashes URL and origin.
    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// What is to be fetched.
package struct SourceRequest: Hashable, Sendable {
    /// The source.
    package let identity: SourceIdentity

    /// A request for the source of this identity.
    package init(identity: SourceIdentity) {
        self.identity = identity
    }
}

/// What tells two versions of one source apart.
package enum SourceValidator: Hashable, Sendable, CustomStringConvertible {
    /// The origin's strong entity tag, with its quotes.
    case entityTag(String)
    /// SHA-256 of the bytes in lower-case hexadecimal, where the origin gave no strong tag.
    case digest(String)

    /// The tag or the digest; the quotes of a tag keep the two apart.
    package var description: String {
        switch self {
        case .entityTag(let text), .digest(let text): text
        }
    }
}

/// The bytes of a source with what its origin said about them.
package struct Source: Sendable {
    /// The identity it was asked for under.
    package let identity: SourceIdentity
    /// The body, complete.
    package let bytes: SharedBytes
    /// The type the origin gave; nil where it gave none or none that can be read.
    package let mediaType: MediaType?
    /// What tells this version from others.
    package let validator: SourceValidator
    /// `Last-Modified`, where it can be read.
    package let lastModified: HTTPDate?
    /// `ETag` as sent, weak ones included.
    package let eTag: String?
    /// All fields of the final answer.
    package let headerFields: HTTPFields
    /// When the answer had been received, by the wall clock.
    package let receivedAt: HTTPDate
    /// How long the transfer's phases took.
    package let timings: TransferTimings

    /// A source as `identity` with a complete body.
    package init(
        identity: SourceIdentity, bytes: SharedBytes, validator: SourceValidator, headerFields: HTTPFields = [:],
        receivedAt: HTTPDate, timings: TransferTimings = TransferTimings()
    ) {
        self.identity = identity
        self.bytes = bytes
        self.validator = validator
        self.headerFields = headerFields
        self.receivedAt = receivedAt
        self.timings = timings
        mediaType = headerFields[.contentType].flatMap { MediaType($0) }
        lastModified = headerFields[.lastModified].flatMap { HTTPDate($0, now: receivedAt) }
        eTag = headerFields[.eTag]
    }
}

/// How long the phases of a transfer took, redirects included.
package struct TransferTimings: Hashable, Sendable {
    /// Looking the names up.
    package var dns = Duration.zero
    /// Opening TCP connections.
    package var connect = Duration.zero
    /// TLS handshakes.
    package var tls = Duration.zero
    /// From the sent request to the first byte of the answer.
    package var firstByte = Duration.zero
    /// From the start of the transfer to its end, waiting for a slot not included.
    package var total = Duration.zero
    /// Whether the last hop went over a connection that was open already.
    package var isReused = false

    /// All zero.
    package init() {}
}

/// The cache of sources as the downloader sees it.
package protocol SourceCaching: Sendable {
    /// A source that may be answered without asking its origin.
    ///
    /// Called under the downloader's lock: must be quick and call nothing of the downloader.
    func source(for identity: SourceIdentity) -> Source?

    /// Takes a source that has just arrived, and decides itself whether it may be kept.
    ///
    /// Called before the flight is forgotten, so that a request that comes in between finds one or the other.
    func store(_ source: Source)
}
