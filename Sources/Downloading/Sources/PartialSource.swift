import Crypto
package import Memory

/// Some bytes of one version of a source, not decodable as an image.
package struct PartialSource: Sendable {
    package let head: SourceHead
    package private(set) var file: PartialFile
    let version: RangeVersion?
    private(set) var timings: TransferTimings

    /// Returns nil if the file cannot be read in ranges.
    init?(_ range: SourceRange) {
        guard let file = PartialFile(count: range.totalBytes) else { return nil }
        self.file = file
        head = range.head
        version = range.version
        timings = range.timings
        self.file.add(range.bytes, at: range.offset)
    }

    /// Whether the origin identifies the version, by a strong entity tag or date.
    package var hasVersion: Bool { version != nil }

    /// Returns the head for a reader of only the first range and these bytes.
    ///
    /// Without an entity tag, the validator is a hash of both: two versions of the same second have the same date.
    package func head(with bytes: SharedBytes) -> SourceHead {
        head.identified(by: SHA256.hash(head.validator.description + bytes.withBytes { SHA256.hash($0) }.hexadecimal))
    }

    mutating func add(_ range: SourceRange) {
        file.add(range.bytes, at: range.offset)
        timings.add(range.timings)
    }
}

/// Identifies the version of a source; equal for all its ranges.
struct RangeVersion: Hashable, Sendable {
    /// A strong entity tag, or a strong date.
    let validator: String
    let totalBytes: Int
    /// The URL that the validator belongs to.
    let url: String
}

/// A range of a source, smaller than the whole.
package struct SourceRange: Sendable {
    let head: SourceHead
    let bytes: SharedBytes
    let offset: Int
    let totalBytes: Int
    /// The version; nil without a strong validator.
    let version: RangeVersion?
    let timings: TransferTimings
}
