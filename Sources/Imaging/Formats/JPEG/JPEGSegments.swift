import Memory

enum JPEGSegments {
    static func segment(_ marker: UInt8, contents: [UInt8]) -> [UInt8] {
        [0xFF, marker] + (contents.count + 2).bigEndianBytes(2) + contents
    }

    static func exif(_ data: [UInt8]) -> [UInt8] { segment(0xE1, contents: Array("Exif\0\0".utf8) + data) }

    /// The identifier before an XMP packet.
    static let packetName: StaticString = "http://ns.adobe.com/xap/1.0/\0"

    static func packet(_ text: [UInt8]) -> [UInt8] { segment(0xE1, contents: Array("\(packetName)".utf8) + text) }

    /// Returns the offset after JFIF and EXIF segments, which must come first; nil without a start marker.
    static func start(_ file: RawSpan) -> Int? {
        guard file.hasBytes([0xFF, 0xD8], at: 0) else { return nil }
        var offset = 2
        if file.hasBytes([0xFF, 0xE0], at: offset), let end = file.jpegSegmentEnd(at: offset + 2) { offset = end }
        if file.hasBytes([0xFF, 0xE1], at: offset), file.hasText("Exif\0\0", at: offset + 4),
            let end = file.jpegSegmentEnd(at: offset + 2)
        {
            offset = end
        }
        return offset
    }

    static func inserting(_ segments: [UInt8], into file: SharedBytes) -> SharedBytes {
        file.withBytes { bytes in
            guard let offset = start(bytes) else { return file }
            return file.replacing(offset..<offset, with: SharedBytes(segments))
        }
    }

    static func stripped(_ file: SharedBytes) -> SharedBytes {
        file.removing { bytes, remove in
            var offset = 2
            while let (marker, next) = bytes.jpegMarker(from: offset), marker != 0xDA, marker != 0xD9,
                let end = bytes.jpegSegmentEnd(at: next)
            {
                if 0xE1...0xEF ~= marker && marker != 0xEE || marker == 0xFE { remove(offset..<end) }
                offset = end
            }
        }
    }
}
