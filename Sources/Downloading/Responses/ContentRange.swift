import HTTPTypes
import Memory

/// A `Content-Range` with all three numbers: `bytes 65536-99999/100000`.
struct ContentRange {
    let start: Int
    let end: Int
    let total: Int

    init?(_ text: String) {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        let numbers = text.dropFirst(6).split(whereSeparator: { $0 == "-" || $0 == "/" }).map { Int($0) }
        guard numbers.count == 3, let start = numbers[0], let end = numbers[1], let total = numbers[2] else {
            return nil
        }
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
            contentRange.total > bytes.lowerBound, contentRange.start == bytes.lowerBound,
            contentRange.end == min(bytes.upperBound, contentRange.total) - 1,
            head.contentLength.map({ $0 == contentRange.end - contentRange.start + 1 }) ?? true
        else { return false }
        return version.map { $0 == RangeVersion(head, totalBytes: contentRange.total, url: url) } ?? true
    }
}

extension RangeVersion {
    /// The version of the response; nil without a strong validator.
    fileprivate init?(_ head: ResponseHead, totalBytes: Int, url: String) {
        guard let validator = head.rangeValidator else { return nil }
        self.init(validator: validator, totalBytes: totalBytes, url: url)
    }
}

extension SourceRange {
    /// Returns nil if the header has no range, or the body has another length.
    init?(_ head: SourceHead, of response: ResponseHead, bytes: SharedBytes, at url: String, timings: TransferTimings) {
        guard let range = response.fields[.contentRange].flatMap({ ContentRange($0) }),
            bytes.count == range.end - range.start + 1
        else { return nil }
        self.init(
            head: head, bytes: bytes, offset: range.start, totalBytes: range.total,
            version: RangeVersion(response, totalBytes: range.total, url: url), timings: timings)
    }
}
