import Crypto
package import Memory

/// Some bytes of one version of a source; never an image to decode.
package struct PartialSource: Sendable {
    package let head: SourceHead
    package private(set) var file: FileParts
    let version: PartVersion?
    private(set) var timings: TransferTimings

    /// Nil if such a file cannot be read in parts.
    init?(_ part: SourcePart) {
        guard let file = FileParts(count: part.totalBytes) else { return nil }
        (self.file, head, version, timings) = (file, part.head, part.version, part.timings)
        self.file.add(part.bytes, at: part.offset)
    }

    /// Whether the origin identifies the version, by a strong entity tag or date.
    package var hasVersion: Bool { version != nil }

    /// Returns the head for a use of the file that reads only the first range and these bytes.
    ///
    /// Without an entity tag, the validator covers both, because two versions of one second have the same date.
    package func head(with bytes: SharedBytes) -> SourceHead {
        head.identified(
            by: SHA256.hash(head.validator.description + bytes.withBytes { SHA256.hash($0) }.hexadecimal))
    }

    mutating func add(_ part: SourcePart) {
        file.add(part.bytes, at: part.offset)
        timings.add(part.timings)
    }
}

/// The version of a source, equal in all of its ranges.
struct PartVersion: Hashable, Sendable {
    /// A strong entity tag, or a strong date.
    let validator: String
    let totalBytes: Int
    /// An entity tag is meaningless anywhere else.
    let url: String
}

/// A range of a source, less than all of it.
package struct SourcePart: Sendable {
    let head: SourceHead
    let bytes: SharedBytes
    let offset: Int
    let totalBytes: Int
    /// Nil without a strong validator.
    let version: PartVersion?
    let timings: TransferTimings
}
