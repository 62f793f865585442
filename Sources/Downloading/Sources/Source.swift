package import HTTPTypes
package import Memory
import Text

package final class SourceIdentity: Hashable, Sendable {
    /// The requested URL, before any redirect.
    package let url: SourceURL
    /// The named origin whose fields, credentials and TLS policy apply; nil for absolute URLs.
    package let originName: String?
    /// The number of bytes of the URL that the origin's name replaces.
    private let baseLength: Int
    /// The URL to fetch: `url` with the ignored parameters; not a part of the identity.
    package let target: SourceURL
    package let sharesTargets: Bool
    private let hash: Int

    /// - Parameter baseLength: The number of bytes of the URL that the origin's name replaces.
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

    /// The canonical URL, or `NAME:PATH` of its origin; parsing it returns the same identity.
    package var name: String {
        guard let originName else { return url.canonical }
        let path = url.canonical.utf8.dropFirst(baseLength)
        let text = String(Substring(path))
        return "\(originName):\(url.isInFolder ? URLEscape.path(ofFile: URLEscape.text(of: text[...])) : text)"
    }

    /// An uploaded image, which clients cannot name and only memory stores.
    ///
    /// - Parameter name: Lowercase letters and digits, such as a digest.
    package convenience init(given name: String) {
        self.init(url: SourceURL(given: name))
    }

    package var byteCount: Int {
        320 + url.byteCount + (target.canonical.utf8.count == url.canonical.utf8.count ? 0 : target.byteCount)
    }

    package var isUpload: Bool { url.isUpload }

    package static func == (left: SourceIdentity, right: SourceIdentity) -> Bool {
        left === right || (left.hash == right.hash && left.url == right.url && left.originName == right.originName)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// A source and the target that it is fetched from.
///
/// Callers of one source may name targets that differ in an ignored parameter. The bytes of one are the source for all
/// of them, but a failure of one does not affect the others.
package struct FetchedTarget: Hashable, Sendable {
    package let identity: SourceIdentity

    package init(_ identity: SourceIdentity) { self.identity = identity }

    package static func == (left: FetchedTarget, right: FetchedTarget) -> Bool {
        left.identity == right.identity && left.identity.target == right.identity.target
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
        if identity.sharesTargets { hasher.combine(identity.target) }
    }
}

package struct SourceRequest: Hashable, Sendable {
    package let identity: SourceIdentity
    package let directives: RequestCacheControl
    package let needsBytes: Bool
    /// Whether this is a validation in the background, which never uses a stale copy.
    package let isBackground: Bool
    /// Whether an operator requested it: a response that is not an image is then an error, and replaces nothing.
    package let isRefresh: Bool
    /// The context in the caller's trace for the origin, as a `traceparent`; nil without a trace.
    package let traceparent: String?

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

package enum SourceValidator: Hashable, Sendable, CustomStringConvertible {
    case entityTag(String)
    /// The SHA-256 of the bytes in lowercase hexadecimal, if the origin sent no strong entity tag.
    case digest(String)

    /// The entity tag or the digest; the quotes of a tag distinguish them.
    package var description: String {
        switch self {
        case .entityTag(let text), .digest(let text): text
        }
    }
}

package struct Source: Sendable {
    package let head: SourceHead
    package let bytes: SharedBytes
    package var timings = TransferTimings()
    /// The body's remaining codings; empty outside of the loader.
    var codings: [ContentCoding] = []

    package var identity: SourceIdentity { head.identity }
    package var validator: SourceValidator { head.validator }
}

package struct TransferTimings: Hashable, Sendable {
    package var dns = Duration.zero
    package var connect = Duration.zero
    package var tls = Duration.zero
    package var firstByte = Duration.zero
    package var total = Duration.zero
    package var isReused = false

    package init() {}
}

/// A content coding that is decoded (RFC 9110 section 8.4.1), although none is requested.
enum ContentCoding: String, Sendable {
    case gzip, deflate
    case brotli = "br"

    /// The maximum number of nested codings.
    static let maximumCount = 2

    /// Ignores unknown words: `aws-chunked`, `utf-8` and others occur with bytes that are not encoded.
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
