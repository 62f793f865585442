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
        var bytes = Array("II*\0".utf8) + 8.littleEndianBytes(4) + entries.count.littleEndianBytes(2)
        var rest: [UInt8] = []
        let end = bytes.count + entries.count * EXIFDirectory.entryLength + 4
        for (tag, text) in entries {
            let value = text + [0]
            bytes +=
                tag.littleEndianBytes(2) + EXIFDirectory.ascii.littleEndianBytes(2) + value.count.littleEndianBytes(4)
            if value.count <= 4 {
                bytes += value + [UInt8](repeating: 0, count: 4 - value.count)
            } else {
                bytes += (end + rest.count).littleEndianBytes(4)
                rest += value + [UInt8](repeating: 0, count: value.count % 2)
            }
        }
        return bytes + 0.littleEndianBytes(4) + rest
    }
}

/// Puts a block of Exif into files that the service made, which have none.
enum EXIFWriting {
    /// JPEG: a segment after the first one, which is JFIF's.
    static func jpeg(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        JPEGSegments.inserting(JPEGSegments.exif(exif), into: file)
    }

    /// PNG: a chunk after the first one.
    static func png(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        file.inserting(chunk: "eXIf", exif)
    }

    /// WebP: the last chunk, announced by the extended header (RFC 9649 section 2.7).
    static func webp(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        guard let bytes = WebPChunks.extended(file.array, to: size, flags: 0b1000) else { return file }
        return SharedBytes(WebPChunks.counted(bytes + WebPChunks.chunk("EXIF", exif)))
    }
}

/// The chunks of WebP files that the service made (RFC 9649).
enum WebPChunks {
    /// The file with an extended header that announces something; nil for bytes that are no such file.
    ///
    /// - Parameters:
    ///   - size: Size of one frame.
    ///   - flags: The bits that are set.
    static func extended(_ file: [UInt8], to size: PixelSize, flags: UInt8) -> [UInt8]? {
        guard file.count > 30 else { return nil }
        var bytes = file
        if bytes[12..<16].elementsEqual("VP8X".utf8) {
            bytes[20] |= flags
            return bytes
        }
        // The lossless bitstream says whether it has alpha.
        let hasAlpha = bytes[12..<16].elementsEqual("VP8L".utf8) && bytes[24] & 0x10 != 0
        let header = [flags | (hasAlpha ? 0b1_0000 : 0), 0, 0, 0]
        bytes.insert(
            contentsOf: chunk(
                "VP8X", header + (size.width - 1).littleEndianBytes(3) + (size.height - 1).littleEndianBytes(3)),
            at: 12)
        return bytes
    }

    /// A chunk, filled up to an even number of bytes.
    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        Array(name.utf8) + data.count.littleEndianBytes(4) + data + [UInt8](repeating: 0, count: data.count % 2)
    }

    /// The file with its length in the header.
    static func counted(_ file: [UInt8]) -> [UInt8] { file[..<4] + (file.count - 8).littleEndianBytes(4) + file[8...] }
}
