import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes

/// Facts about a source whose fetched bytes are too few to decode it.
struct PartialRecord: Sendable {
    let head: SourceHead
    let header: ImageHeader
    let byteCount: Int

    init(_ source: PartialSource) throws(ImagingError) {
        head = source.head
        byteCount = source.file.count
        guard let header = try source.file.outline?.value.get() else {
            throw .cannotDecode(detail: "the fetched parts of the file do not contain its header")
        }
        try head.check(header)
        self.header = header
    }

    /// - Parameter head: New fields from the origin.
    init(_ head: SourceHead, of stored: PartialRecord) {
        self.head = head
        header = stored.header
        byteCount = stored.byteCount
    }

    var cost: Int { head.byteCount + header.byteCount + 128 }

    /// A record for facts; its header lacks what only the cost of a decode needs.
    var whole: SourceRecord { SourceRecord(head, header: header, byteCount: byteCount) }

    /// Whether the record certainly describes another version.
    func contradicts(_ record: SourceRecord) -> Bool {
        switch (head.validator, record.validator) {
        case (.entityTag(let one), .entityTag(let other)): one != other
        default:
            byteCount != record.byteCount || head.headerFields[.lastModified] != record.head.headerFields[.lastModified]
        }
    }
}

extension SourceHead {
    /// Rejects a text media type unless the source is SVG.
    func check(_ header: ImageHeader) throws(ImagingError) {
        if isText, !header.format.isVector { throw .notAnImage }
    }
}

extension PartialFile {
    var outline: Reading<Result<ImageHeader?, ImagingError>>? {
        read { span in Result { () throws(ImagingError) in try ImageHeader.outline(span) } }
    }

    func missingRanges(of outline: Reading<Result<ImageHeader?, ImagingError>>) -> SourceScan.Need {
        let reading = read(ImageHeader.sniff)?.value?.reading
        return .ranges(outline.missing, atMost: reading?.maximumHeaderBytes ?? FormatTraits.Reading.defaultHeaderBytes)
    }
}

extension SourceScan {
    /// Reads the bytes that the facts need, even if they are damaged.
    static let header = SourceScan(.header) { source in
        guard let outline = source.file.outline else { return .whole }
        if !outline.missing.isEmpty { return source.file.missingRanges(of: outline) }
        if case .success(nil) = outline.value { return .whole }
        return .complete
    }
}
