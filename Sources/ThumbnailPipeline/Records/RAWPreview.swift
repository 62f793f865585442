import Downloading
import Imaging
import Memory
import Recipes

/// The header and the embedded preview of a RAW photograph, without the rest of the file.
struct RAWPreview: Sendable {
    /// The record of the whole file.
    let record: SourceRecord
    private let bytes: SharedBytes

    /// Returns nil if the fetched ranges are not a RAW preview, or their version is uncertain.
    init?(_ source: PartialSource, under generations: LayerGenerations = [:]) {
        guard source.hasVersion, let outline = source.file.outline, outline.missing.isEmpty,
            case .success(let header?) = outline.value, let range = header.preview?.range,
            let bytes = source.file.bytes(in: range), (try? source.head.check(header)) != nil
        else { return nil }
        record = SourceRecord(
            source.head(with: bytes), header: header, byteCount: source.file.count, generations: generations)
        self.bytes = bytes
    }

    var file: SourceFile {
        var header = record.header
        header.preview?.range = 0..<bytes.count
        return SourceFile(bytes: bytes, header: header)
    }
}

extension SourceIdentity {
    /// Whether the file name has the extension of a RAW format.
    var isNamedRAW: Bool {
        guard let dot = url.path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let ending = url.path[url.path.utf8.index(after: dot)...]
        return ending.utf8.count <= 3 && ImageFormat.rawFileExtensions.contains(ending.lowercased())
    }
}

extension SourceScan {
    static let preview = SourceScan(.preview) { source in
        guard source.hasVersion, let outline = source.file.outline else { return .whole }
        if !outline.missing.isEmpty { return source.file.missingRanges(of: outline) }
        guard case .success(let header?) = outline.value, let range = header.preview?.range,
            range.upperBound <= source.file.count
        else { return .whole }
        return source.file.unknown(in: range).map { .block($0) } ?? .complete
    }
}

/// A file to decode: a whole source, or the preview of a RAW photograph.
struct SourceFile: Sendable {
    let bytes: SharedBytes
    let header: ImageHeader

    /// Returns the memory in bytes that the plan takes.
    func cost(of plan: DecodePlan) -> Int { header.cost(of: plan, fileByteCount: bytes.count) }
}
