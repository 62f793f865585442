import Memory
import Text

/// A listing of the objects below a folder of a bucket (S3 ListObjectsV2), with path-style or host-style URLs.
struct ObjectListing {
    static let length = 1_000
    /// Maximum bytes of a page; larger than any valid one.
    static let maximumBytes = 4 << 20

    private let rules: OriginRules
    private let bucket: String
    private let prefix: String

    /// Returns the possible listings: the bucket may be the first path segment of the base, or its host.
    static func listings(of folder: String, below rules: OriginRules) throws -> [ObjectListing] {
        guard case .web(let base)? = rules.origin?.location else { return [] }
        let segments = base.path.split(separator: "/").map(String.init)
        return (0...min(1, segments.count)).reversed().map { count in
            ObjectListing(
                rules: rules, bucket: base.origin.description + "/" + segments.prefix(count).joined(separator: "/"),
                prefix: (segments.dropFirst(count).map { URLEscape.text(of: $0[...]) } + [folder, ""])
                    .joined(separator: "/"))
        }
    }

    func page(after name: String?) throws -> SourceIdentity {
        var query = "list-type=2&max-keys=\(Self.length)&prefix=\(URLEscape.encode(prefix))"
        if let name { query += "&start-after=\(URLEscape.encode(prefix + name))" }
        return SourceIdentity(url: try SourceURL(parsing: "\(bucket)?\(query)"), rules: rules)
    }

    /// Returns the names, and whether there are more; nil if the response is not a listing of this folder.
    ///
    /// These are our own names, so none has characters that XML would escape. A full page that does not say whether
    /// there are more is not considered the last.
    func names(in response: SharedBytes) -> (names: [String], hasMore: Bool)? {
        let text = String(decoding: response.array, as: UTF8.self)
        guard text.contains("<ListBucketResult") else { return nil }
        let names: [String] = text.split(separator: "<Key>").dropFirst().compactMap { entry in
            let key = entry.prefix(before: UInt8(ascii: "<"))
            guard let slash = key.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
            return String(key[key.utf8.index(after: slash)...])
        }
        let isFull = names.count >= Self.length && !text.contains("<IsTruncated>")
        return (names, isFull || text.contains("<IsTruncated>true<"))
    }
}
