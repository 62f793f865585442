import Recipes

/// A box (ISO/IEC 14496-12 section 4.2).
private struct RAWBox {
    let type: Int
    let contents: Range<Int>

    private static let maximum = 64

    static func all(in range: Range<Int>, of bytes: RawSpan) -> [RAWBox] {
        var boxes: [RAWBox] = []
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound, boxes.count < maximum {
            guard let header = try? bytes.checkedArray(offset..<min(offset + 16, range.upperBound)) else { break }
            let isLong = header.long(0) == 1
            let length = isLong ? header.number(8..<16, isLittleEndian: false) & (1 << 48 - 1) : header.long(0)
            let start = isLong ? 16 : 8
            guard length >= start, offset + length <= range.upperBound else { break }
            boxes.append(RAWBox(type: header.long(4), contents: offset + start..<offset + length))
            offset += length
        }
        return boxes
    }

    static func first(_ path: [StaticString], in range: Range<Int>, of bytes: RawSpan) -> Range<Int>? {
        var range = range
        for name in path {
            let type = BoxCursor.type(name)
            guard let box = all(in: range, of: bytes).first(where: { $0.type == type }) else { return nil }
            range = box.contents
        }
        return range
    }
}

/// Canon CR3.
extension RAWContents {
    private enum Identifier {
        static let camera: [UInt8] = [
            0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
        ]
        static let preview: [UInt8] = [
            0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
        ]
        static let packet: [UInt8] = [
            0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
        ]
    }

    private static let identified = BoxCursor.type("uuid")

    init(boxes bytes: RawSpan) {
        for box in RAWBox.all(in: 0..<bytes.byteCount, of: bytes) {
            switch box.type {
            case BoxCursor.type("moov"): try? readMovie(box.contents, of: bytes)
            case Self.identified where box.contents.count > 24:
                let identifier = try? bytes.checkedArray(box.contents.prefix(16))
                // Eight bytes precede the box of the preview.
                if identifier == Identifier.preview { try? readPreview(box.contents.dropFirst(24), of: bytes) }
                if identifier == Identifier.packet { packet = box.contents.dropFirst(16) }
            default: break
            }
        }
    }

    /// Reads a preview: a 16-byte header that ends with the length, followed by the file.
    private mutating func readPreview(_ range: Range<Int>, of bytes: RawSpan) throws(ImagingError) {
        guard let range = RAWBox.first(["PRVW"], in: range, of: bytes), range.count > 16 else { return }
        let length = try bytes.checkedArray(range.prefix(16)).long(12)
        previews.append(range.dropFirst(16).prefix(length))
    }

    private mutating func readMovie(_ movie: Range<Int>, of bytes: RawSpan) throws(ImagingError) {
        for box in RAWBox.all(in: movie, of: bytes) {
            switch box.type {
            case Self.identified where box.contents.count > 16:
                guard try bytes.checkedArray(box.contents.prefix(16)) == Identifier.camera else { continue }
                readMetadata(box.contents.dropFirst(16), of: bytes)
            case BoxCursor.type("trak"): try? readTrack(box.contents, of: bytes)
            default: break
            }
        }
    }

    private mutating func readMetadata(_ range: Range<Int>, of bytes: RawSpan) {
        for box in RAWBox.all(in: range, of: bytes) {
            let isMain = box.type == BoxCursor.type("CMT1")
            guard isMain || box.type == BoxCursor.type("CMT2") else { continue }
            let block = try? RAWDirectory(ofBlock: box.contents.lowerBound, in: bytes)
            if isMain { main = block } else { exif = block }
        }
        sensor = sensor ?? main?.size()
    }

    /// Reads a track, which holds a JPEG file or sensor data.
    private mutating func readTrack(_ track: Range<Int>, of bytes: RawSpan) throws(ImagingError) {
        guard let table = RAWBox.first(["mdia", "minf", "stbl"], in: track, of: bytes),
            let kinds = RAWBox.first(["stsd"], in: table, of: bytes), kinds.count >= 8 + 98
        else { return }
        let entry = try bytes.checkedArray(kinds.dropFirst(8).prefix(98))
        guard entry.hasText("CRAW", at: 4) else { return }
        // After the 86 bytes of a visual sample entry and Canon's fields.
        guard entry.hasText("JPEG", at: 90) || entry.hasText("JPEG", at: 94) else {
            let size = PixelSize(width: entry.short(32), height: entry.short(34))
            if let size = size.plausible, size.area > sensor?.area ?? 0 { sensor = size }
            return
        }
        guard let sizes = RAWBox.first(["stsz"], in: table, of: bytes), sizes.count >= 12 else { return }
        let lengths = try bytes.checkedArray(sizes.prefix(16))
        let length = lengths.long(4) > 0 ? lengths.long(4) : lengths.long(12)
        var start: Int?
        if let ranges = RAWBox.first(["co64"], in: table, of: bytes), ranges.count >= 16 {
            start = try bytes.checkedArray(ranges.prefix(16)).number(10..<16, isLittleEndian: false)
        } else if let ranges = RAWBox.first(["stco"], in: table, of: bytes), ranges.count >= 12 {
            start = try bytes.checkedArray(ranges.prefix(12)).long(8)
        }
        if let start, length > 0 { previews.append(start..<start + length) }
    }
}
