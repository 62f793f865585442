import Crypto
import HTTPTypes
import Memory

/// Receives a body into one block, and hashes it if no entity tag identifies the version.
struct BodySink: ~Copyable {
    /// Maximum bytes reserved for an announced length; a larger body takes more memory as it arrives.
    private static let maximumReservation = 8 << 20

    private var bytes: ByteAccumulator
    private var hash: SHA256?
    private let eTag: String?

    /// Ignores the entity tag after a redirect, because different URLs may use equal tags.
    init(head: ResponseHead, isRedirected: Bool) {
        bytes = ByteAccumulator(reservingCapacity: min(head.contentLength ?? 0, Self.maximumReservation))
        eTag = isRedirected ? nil : head.strongETag
        hash = eTag == nil ? SHA256() : nil
    }

    var count: Int { bytes.count }

    @unsafe
    mutating func append(_ buffer: UnsafeRawBufferPointer) {
        unsafe bytes.append(buffer)
        hash?.update(unsafe buffer.bytes)
    }

    consuming func finish() -> (bytes: SharedBytes, validator: SourceValidator) {
        let block = bytes.finish()
        if let eTag { return (block, .entityTag(eTag)) }
        guard let digest = hash.take()?.finalize() else { preconditionFailure("a body without a tag is hashed") }
        return (block, SourceValidator(digest))
    }
}

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

    /// Nil if too few bytes have arrived or there is no strong validator.
    init?(of head: ResponseHead, receivedBytes: Int) {
        guard receivedBytes >= Self.minimumBytes, receivedBytes < head.contentLength ?? .max,
            head.fields[.acceptRanges]?.lowercased() != "none",
            let validator = head.rangeValidator
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
        if let tag = strongETag, tag.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) { return tag }
        // A date is strong if `Date` is at least a second later (RFC 9110 section 8.8.2.2).
        guard !fields.contains(.eTag), let text = fields[.lastModified], let changed = HTTPDate(text),
            let date = fields[.date].flatMap({ HTTPDate($0) }), date.secondsSince1970 > changed.secondsSince1970
        else { return nil }
        return text
    }
}

/// A `Content-Range` with all three numbers: `bytes 65536-99999/100000`.
struct ContentRange {
    let start: Int
    let end: Int
    let total: Int

    init?(_ text: String) {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(whereSeparator: { $0 == "-" || $0 == "/" }).map { Int($0) }
        guard parts.count == 3, let start = parts[0], let end = parts[1], let total = parts[2] else { return nil }
        self.start = start
        self.end = end
        self.total = total
    }

    var isWhole: Bool { start == 0 && total > 0 && end == total - 1 }
}

extension RequestedRange {
    /// Whether a 206 contains exactly the range, of the same version.
    ///
    /// Rejects ranges of encoded bytes, and several ranges in one body.
    func isSatisfied(by head: ResponseHead, at url: String) -> Bool {
        let ranges = head.fields.values(of: .contentRange)
        guard head.contentCodings.isEmpty, ranges.count == 1, let contentRange = ContentRange(ranges[0]),
            contentRange.total > range.lowerBound, contentRange.start == range.lowerBound,
            contentRange.end == min(range.upperBound, contentRange.total) - 1,
            head.contentLength.map({ $0 == contentRange.end - contentRange.start + 1 }) ?? true
        else { return false }
        return version.map { $0 == PartVersion(head, totalBytes: contentRange.total, url: url) } ?? true
    }
}

extension PartVersion {
    /// The version of the response; nil without a strong validator.
    fileprivate init?(_ head: ResponseHead, totalBytes: Int, url: String) {
        guard let validator = head.rangeValidator else { return nil }
        self.init(validator: validator, totalBytes: totalBytes, url: url)
    }
}

extension SourcePart {
    /// Nil if the header has no range, or the body has another length.
    init?(_ head: SourceHead, of response: ResponseHead, bytes: SharedBytes, at url: String, timings: TransferTimings) {
        guard let range = response.fields[.contentRange].flatMap({ ContentRange($0) }),
            bytes.count == range.end - range.start + 1
        else { return nil }
        self.init(
            head: head, bytes: bytes, offset: range.start, totalBytes: range.total,
            version: PartVersion(response, totalBytes: range.total, url: url), timings: timings)
    }
}
