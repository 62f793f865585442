import HTTPTypes
import Text

/// A truncated body that can be resumed (RFC 9110 sections 13.1.5 and 14.2).
struct PartialBody: Equatable {
    /// Smaller bodies are not resumed.
    static let minimumBytes = 64 << 10
    static let maximumResumptions = 3
    let offset: Int
    let total: Int?
    /// The value of `If-Range`: the strong entity tag, otherwise `Last-Modified`.
    let validator: String
    private let codings: [ContentCoding]

    /// Returns nil if too few bytes have arrived or there is no strong validator.
    init?(of head: ResponseHead, receivedBytes: Int) {
        guard receivedBytes >= Self.minimumBytes, receivedBytes < head.contentLength ?? .max,
            head.fields[.acceptRanges]?.lowercased() != "none", let validator = head.rangeValidator
        else { return nil }
        codings = head.contentCodings
        offset = receivedBytes
        total = head.contentLength
        self.validator = validator
    }

    var fields: HTTPFields { [.range: "bytes=\(offset)-", .ifRange: validator] }

    /// Whether a 206 contains exactly the missing rest of the same version.
    func isContinued(by head: ResponseHead) -> Bool {
        guard head.contentCodings == codings,
            head.fields[.eTag].map({ $0 == validator || !validator.hasPrefix("\"") }) ?? true,
            head.fields[.lastModified].map({ $0 == validator || validator.hasPrefix("\"") }) ?? true,
            let range = head.fields.values(of: .contentRange).first.flatMap({ ContentRange($0) }),
            range.start == offset, range.end == range.total - 1, total ?? range.total == range.total
        else { return false }
        return head.contentLength.map { $0 == range.total - offset } ?? true
    }
}

extension ResponseHead {
    /// The value of `If-Range`: the strong entity tag, otherwise `Last-Modified`; nil if neither is strong.
    var rangeValidator: String? {
        if let tag = strongETag, tag.utf8.allSatisfy(\.isVisibleASCII) { return tag }
        // A date is strong if `Date` is at least a second later (RFC 9110 section 8.8.2.2).
        guard !fields.contains(.eTag), let text = fields[.lastModified], let changed = HTTPDate(text),
            let date = fields[.date].flatMap({ HTTPDate($0) }), date.secondsSince1970 > changed.secondsSince1970
        else { return nil }
        return text
    }
}
