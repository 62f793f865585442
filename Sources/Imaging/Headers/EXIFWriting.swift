import Memory

extension Attribution {
    /// A file that the service made, with an Exif block that holds these texts and nothing else.
    ///
    /// - Parameter size: Size of one frame.
    func written(into file: SharedBytes, format: ImageFormat, size: PixelSize) -> SharedBytes {
        format.writing?.attribute?(file, exif, size) ?? file
    }

    /// The texts as EXIF data, without the leading `Exif`: a directory of one or two entries.
    private var exif: [UInt8] {
        let entries = [(EXIFDirectory.artist, artist), (EXIFDirectory.copyright, copyright)].filter { !$0.1.isEmpty }
        var bytes = Array("II*\0".utf8) + number(8, 4) + number(entries.count, 2)
        var rest: [UInt8] = []
        let end = bytes.count + entries.count * EXIFDirectory.entryLength + 4
        for (tag, text) in entries {
            let value = text + [0]
            bytes += number(tag, 2) + number(EXIFDirectory.ascii, 2) + number(value.count, 4)
            if value.count <= 4 {
                bytes += value + [UInt8](repeating: 0, count: 4 - value.count)
            } else {
                bytes += number(end + rest.count, 4)
                rest += value + [UInt8](repeating: 0, count: value.count % 2)
            }
        }
        return bytes + number(0, 4) + rest
    }

    private func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

/// Puts a block of Exif into files that the service made, which have none.
enum EXIFWriting {
    /// JPEG: a segment after the first one, which is JFIF's.
    static func jpeg(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        JPEGSegments.inserting(JPEGSegments.segment(0xE1, Array("Exif\0\0".utf8) + exif), into: file)
    }

    /// EXIF data, without the leading `Exif`, that state an orientation and nothing else.
    static func block(orientation: Int) -> [UInt8] {
        Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0]
    }

    /// PNG: a chunk after the first one.
    static func png(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        let bytes = file.array
        let place = 33
        guard bytes.count > place else { return file }
        func bigEndian(_ value: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
        }
        let content = Array("eXIf".utf8) + exif
        let chunk = bigEndian(UInt32(exif.count)) + content + bigEndian(checksum(content))
        return SharedBytes(bytes[..<place] + chunk + bytes[place...])
    }

    /// WebP: the last chunk, announced by the extended header (RFC 9649 section 2.7).
    static func webp(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        guard let bytes = WebPChunks.extended(file.array, to: size, flags: 0b1000) else { return file }
        return SharedBytes(WebPChunks.counted(bytes + WebPChunks.chunk("EXIF", exif)))
    }

    /// The checksum of a PNG chunk (ISO/IEC 15948 annex D).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var rest: UInt32 = .max
        for byte in bytes {
            rest ^= UInt32(byte)
            for _ in 0..<8 { rest = rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
        }
        return ~rest
    }
}
