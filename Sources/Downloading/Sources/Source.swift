package import HTTPTypes
package import Memory
import Text

/// The identity of a download: requests with equal identities share a flight and a cache entry.
///
/// Part of every key of every cache: one object, hashed once.
package final class SourceIdentity: Hashable, Sendable {
    /// The requested URL, before any redirect.
    package let url: SourceURL
    /// The named origin whose fields, credentials and TLS policy apply; nil for absolute URLs.
    package let originName: String?
    /// How many bytes of the URL the origin's name stands for.
    private let baseLength: Int
    /// The URL to fetch: `url` with the ignored parameters; not a part of the identity.
    package let target: SourceURL
    /// Whether callers with other targets share the identity, because the origin has ignored parameters.
    package let sharesTargets: Bool
    private let hash: Int

    /// The identity of `url` under the settings of `originName`.
    ///
    /// - Parameters:
    ///   - url: The URL, which callers may ask for with further parameters.
    ///   - originName: The named origin, if there is one.
    ///   - baseLength: How many bytes of the URL the origin's name stands for.
    ///   - target: The URL that is fetched, if it is another one.
    ///   - sharesTargets: Whether callers with other targets share the identity.
    package init(
        url: SourceURL, originName: String? = nil, baseLength: Int = 0, target: SourceURL? = nil,
        sharesTargets: Bool = false
    ) {
        self.url = url
        self.originName = originName
        self.baseLength = baseLength
        self.target = target ?? url
        self.sharesTargets = sharesTargets
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(originName)
        hash = hasher.finalize()
    }

    /// The source as clients and operators name it: the canonical URL, or `NAME:PATH` of its origin; read again, it is
    /// the same identity.
    package var name: String {
        guard let originName else { return url.canonical }
        let path = url.canonical.utf8.dropFirst(baseLength)
        let text = String(Substring(path))
        return "\(originName):\(url.isInFolder ? URLEscapes.path(ofFile: URLEscapes.text(of: text[...])) : text)"
    }

    /// The identity of an image that was given and not fetched: no client can name it, and it is kept in memory alone.
    ///
    /// - Parameter name: Lower-case letters and digits, such as a digest.
    package convenience init(given name: String) {
        self.init(url: SourceURL(given: name))
    }

    /// Bytes of memory that it takes, roughly.
    package var byteCount: Int {
        320 + url.byteCount + (target.canonical.utf8.count == url.canonical.utf8.count ? 0 : target.byteCount)
    }

    /// Whether the image was given and not fetched.
    package var isGiven: Bool { url.isGiven }

    /// Identities are equal when URL and origin are.
    package static func == (left: SourceIdentity, right: SourceIdentity) -> Bool {
        left === right || (left.hash == right.hash && left.url == right.url && left.originName == right.originName)
    }

    /// Hashes URL and origin.
    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// A source and the target that it is fetched from; a failure belongs to both.
///
/// Callers of one source may name targets that differ in an ignored parameter. The bytes of one target are the source
/// for all of them, but a failure of one target says nothing about the others.
package struct FetchedTarget: Hashable, Sendable {
    package let identity: SourceIdentity

    /// The target in `identity`.
    package init(_ identity: SourceIdentity) {
        self.identity = identity
    }

    /// Whether sources and targets are equal.
    package static func == (left: FetchedTarget, right: FetchedTarget) -> Bool {
        left.identity == right.identity && left.identity.target == right.identity.target
    }

    /// Hashes the source, and the target if there can be several.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
        if identity.sharesTargets { hasher.combine(identity.target) }
    }
}

/// One caller's request for a source.
package struct SourceRequest: Hashable, Sendable {
    package let identity: SourceIdentity
    /// The caller's cache directives.
    package let directives: RequestCacheControl
    /// Whether the bytes are wanted; else it is enough to know that their results are still valid.
    package let needsBytes: Bool
    /// Whether this is a validation in the background; then no stale copy is used.
    package let isBackground: Bool
    /// Whether an operator asks: then an answer that is no image is a failure, and takes the place of nothing.
    package let isRefresh: Bool
    /// The place in the caller's trace that an origin may be told, as a `traceparent`; nil without a trace.
    package let traceparent: String?

    /// A request for the source of this identity.
    package init(
        identity: SourceIdentity, directives: RequestCacheControl = .none, needsBytes: Bool = true,
        isBackground: Bool = false, isRefresh: Bool = false, traceparent: String? = nil
    ) {
        self.identity = identity
        self.directives = directives
        self.needsBytes = needsBytes
        self.isBackground = isBackground
        self.isRefresh = isRefresh
        self.traceparent = traceparent
    }
}

/// Identifies a version of a source.
package enum SourceValidator: Hashable, Sendable, CustomStringConvertible {
    /// The origin's strong entity tag, with its quotes.
    case entityTag(String)
    /// SHA-256 of the bytes in lower-case hexadecimal, if the origin gave no strong tag.
    case digest(String)

    /// The tag or the digest; the quotes of a tag keep the two apart.
    package var description: String {
        switch self {
        case .entityTag(let text), .digest(let text): text
        }
    }
}

/// The bytes of a source with the header of its origin's answer.
package struct Source: Sendable {
    /// The origin's response fields.
    package let head: SourceHead
    /// The body, complete.
    package let bytes: SharedBytes
    /// How long the transfer's phases took.
    package let timings: TransferTimings
    /// The codings that the bytes still have, in the order in which they are decoded; none outside of the loader.
    let codings: [ContentCoding]

    /// A source with a complete body.
    package init(head: SourceHead, bytes: SharedBytes, timings: TransferTimings = TransferTimings()) {
        self.init(head: head, bytes: bytes, timings: timings, codings: [])
    }

    init(head: SourceHead, bytes: SharedBytes, timings: TransferTimings, codings: [ContentCoding]) {
        self.codings = codings
        self.head = head
        self.bytes = bytes
        self.timings = timings
    }

    /// The identity it was asked for under.
    package var identity: SourceIdentity { head.identity }
    /// The validator of this version.
    package var validator: SourceValidator { head.validator }
}

/// A source in a cache.
package struct StoredSource: Sendable {
    /// The origin's response fields.
    package let head: SourceHead
    /// The body; nil if only its results are left.
    package let bytes: SharedBytes?

    /// A source that is kept whole.
    package init(_ source: Source) { self.init(head: source.head, bytes: source.bytes) }

    /// A stored source, with its body if that is available.
    package init(head: SourceHead, bytes: SharedBytes?) {
        self.head = head
        self.bytes = bytes
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

    package init() {}
}

/// A content coding of an answer that is decoded (RFC 9110 section 8.4.1), although none is asked for.
enum ContentCoding: String, Sendable {
    case gzip, deflate
    case brotli = "br"

    /// Most codings on top of each other.
    static let maximumCount = 2

    /// The codings of a body, in the order in which they are decoded.
    ///
    /// Words that name none of them are left out: `aws-chunked`, `utf-8` and others stand on bytes that are not coded.
    static func codings(of fields: HTTPFields) -> [ContentCoding] {
        let words = fields.values(of: .contentEncoding).flatMap { $0.split(separator: ",") }
        return words.compactMap { Self($0) }.reversed()
    }

    private init?(_ word: Substring) {
        switch HTTPSyntax.trimmed(word).asciiLowercased {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        default: return nil
        }
    }
}
