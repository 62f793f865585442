import Memory

extension Attribution {
    /// Adds an Exif block with only these texts to a file that the service encoded.
    ///
    /// - Parameter size: Size of one frame.
    func written(into file: SharedBytes, format: ImageFormat, size: PixelSize) -> SharedBytes {
        format.writing?.attribute?(file, exif, size) ?? file
    }

    /// A directory of one or two entries, without the leading `Exif`.
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

/// Inserts Exif blocks into files that the service encoded, which have none.
enum EXIFWriting {
    /// Inserts a segment after the first one, which is JFIF's.
    static func jpeg(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        JPEGSegments.inserting(JPEGSegments.exif(exif), into: file)
    }

    /// Inserts a chunk after the first one.
    static func png(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        file.inserting(chunk: "eXIf", exif)
    }

    /// Appends the chunk and announces it in the extended header (RFC 9649 section 2.7).
    static func webp(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        guard let bytes = WebPChunks.extended(file.array, to: size, flags: 0b1000) else { return file }
        return SharedBytes(WebPChunks.counted(bytes + WebPChunks.chunk("EXIF", exif)))
    }
}

/// Reads and writes chunks of WebP files that the service encoded (RFC 9649).
enum WebPChunks {
    /// Returns the file with these flags set in its extended header, which is added if missing; nil if it is not WebP.
    ///
    /// - Parameter size: Size of one frame.
    static func extended(_ file: [UInt8], to size: PixelSize, flags: UInt8) -> [UInt8]? {
        guard file.count > 30 else { return nil }
        var bytes = file
        if bytes[12..<16].elementsEqual("VP8X".utf8) {
            bytes[20] |= flags
            return bytes
        }
        // The lossless bitstream records whether it has alpha.
        let hasAlpha = bytes[12..<16].elementsEqual("VP8L".utf8) && bytes[24] & 0x10 != 0
        let header = [flags | (hasAlpha ? 0b1_0000 : 0), 0, 0, 0]
        bytes.insert(
            contentsOf: chunk(
                "VP8X", header + (size.width - 1).littleEndianBytes(3) + (size.height - 1).littleEndianBytes(3)),
            at: 12)
        return bytes
    }

    /// Returns a chunk, padded to an even number of bytes.
    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        Array(name.utf8) + data.count.littleEndianBytes(4) + data + [UInt8](repeating: 0, count: data.count % 2)
    }

    /// Returns the file with its length in the header updated.
    static func counted(_ file: [UInt8]) -> [UInt8] { file[..<4] + (file.count - 8).littleEndianBytes(4) + file[8...] }
}
