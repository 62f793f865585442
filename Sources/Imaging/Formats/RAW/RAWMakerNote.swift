import Recipes

/// A maker note, which may contain previews.
struct RAWMakerNote {
    private enum Kind {
        case nikon, olympus, pentax
    }

    private struct Form {
        let start: StaticString
        let kind: Kind
        /// The offset of the directory; nil if the note begins with a TIFF header.
        let directory: Int?
        /// Whether addresses are relative to the note.
        let isRelative: Bool
        /// The offset of the byte-order mark; nil if the note uses the file's byte order.
        var order: Int?
    }

    private static let forms = [
        Form(start: "Nikon\0\u{2}", kind: .nikon, directory: nil, isRelative: true),
        Form(start: "OLYMPUS\0", kind: .olympus, directory: 12, isRelative: true, order: 8),
        Form(start: "OM SYSTEM\0", kind: .olympus, directory: 16, isRelative: true, order: 12),
        Form(start: "OLYMP\0", kind: .olympus, directory: 8, isRelative: false),
        Form(start: "PENTAX \0", kind: .pentax, directory: 10, isRelative: true, order: 8),
        Form(start: "AOC\0", kind: .pentax, directory: 6, isRelative: false, order: 4),
    ]
    /// Nikon's TIFF block begins after ten bytes.
    private static let blockStart = 10

    let previews: [Range<Int>]

    /// - Parameter exif: The EXIF directory that contains the note.
    init(in exif: RAWDirectory, of bytes: RawSpan) {
        guard let range = exif.range(EXIFDirectory.makerNote), range.count >= 18,
            let start = try? bytes.checkedArray(range.prefix(18)),
            let form = Self.forms.first(where: { start.hasText($0.start) })
        else {
            previews = []
            return
        }
        previews = (try? Self.previews(form, start: start, at: range.lowerBound, in: exif, of: bytes)) ?? []
    }

    private static func previews(
        _ form: Form, start: [UInt8], at note: Int, in exif: RAWDirectory, of bytes: RawSpan
    ) throws(ImagingError) -> [Range<Int>] {
        let isLittleEndian = form.order.map { start.hasText("II", at: $0) } ?? exif.isLittleEndian
        let base = form.isRelative ? note : exif.base
        let directory =
            if let offset = form.directory {
                try RAWDirectory(at: note + offset - base, base: base, isLittleEndian: isLittleEndian, in: bytes)
            } else {
                try RAWDirectory(ofBlock: note + blockStart, in: bytes)
            }
        func inner(_ tag: Int) throws(ImagingError) -> RAWDirectory? {
            // Old files store the directory as a value.
            guard let address = directory.number(tag) ?? directory.range(tag).map({ $0.lowerBound - directory.base })
            else { return nil }
            return try RAWDirectory(
                at: address, base: directory.base, isLittleEndian: directory.isLittleEndian, in: bytes)
        }
        let preview =
            switch form.kind {
            case .nikon: try inner(0x11)?.range(RAWDirectory.Tag.preview, length: RAWDirectory.Tag.previewLength)
            case .olympus: try inner(0x2020)?.range(0x101, length: 0x102)
            case .pentax: directory.range(4, length: 3)
            }
        return preview.map { [$0] } ?? []
    }
}
