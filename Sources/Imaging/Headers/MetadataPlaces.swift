import Memory

/// Takes segments out of JPEG files and puts others in (ITU-T T.81 section B.1.1.4).
enum JPEGSegments {
    /// A segment as bytes.
    ///
    /// - Parameter contents: At most 65,533 bytes.
    static func segment(_ marker: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [0xFF, marker] + bigEndian(contents.count + 2, 2) + contents
    }

    /// A number of so many bytes, the most significant first.
    static func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    /// The place behind the segments that must come first: those of JFIF and Exif; nil in a file without a start.
    static func start(_ file: RawSpan) -> Int? {
        guard file.hasBytes([0xFF, 0xD8], at: 0) else { return nil }
        var place = 2
        if file.hasBytes([0xFF, 0xE0], at: place), let end = file.jpegSegmentEnd(at: place + 2) { place = end }
        if file.hasBytes([0xFF, 0xE1], at: place), file.hasText("Exif\0\0", at: place + 4),
            let end = file.jpegSegmentEnd(at: place + 2)
        {
            place = end
        }
        return place
    }

    /// A file with more segments, behind those that must come first.
    static func inserting(_ segments: [UInt8], into file: SharedBytes) -> SharedBytes {
        file.withBytes { bytes in
            guard let place = start(bytes) else { return file }
            return joined([(0..<place, file), (0..<segments.count, SharedBytes(segments)), (place..<file.count, file)])
        }
    }

    /// A file without application data but those that tell how its components are stored, and without comments.
    static func stripped(_ file: SharedBytes) -> SharedBytes {
        file.withBytes { bytes in
            var kept: [(Range<Int>, SharedBytes)] = []
            var (offset, start) = (2, 0)
            while let (marker, next) = bytes.jpegMarker(from: offset), marker != 0xDA, marker != 0xD9,
                let end = bytes.jpegSegmentEnd(at: next)
            {
                if 0xE1...0xEF ~= marker && marker != 0xEE || marker == 0xFE {
                    kept.append((start..<offset, file))
                    start = end
                }
                offset = end
            }
            return joined(kept + [(start..<file.count, file)])
        }
    }

    /// Parts of blocks, one after the other.
    static func joined(_ parts: [(range: Range<Int>, bytes: SharedBytes)]) -> SharedBytes {
        var result = ByteAccumulator(reservingCapacity: parts.reduce(0) { $0 + $1.range.count })
        for (range, bytes) in parts {
            unsafe bytes.withUnsafeBytes { unsafe result.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
        return result.finish()
    }

    /// The place after the first segment, which is JFIF's; nil for bytes that are no such file.
    static func placeOfMetadata(in bytes: [UInt8]) -> Int? {
        guard bytes.count > 6, bytes[0] == 0xFF, bytes[1] == 0xD8 else { return nil }
        let place = bytes[2] == 0xFF && bytes[3] == 0xE0 ? 4 + Int(bytes[4]) << 8 + Int(bytes[5]) : 2
        return place <= bytes.count ? place : nil
    }

    /// The number of components, 1 for grey; nil if no frame header is found.
    static func componentCount(in bytes: [UInt8]) -> Int? {
        var place = 2
        while place + 9 < bytes.count, bytes[place] == 0xFF {
            let marker = bytes[place + 1]
            if 0xC0...0xCF ~= marker, ![0xC4, 0xC8, 0xCC].contains(marker) { return Int(bytes[place + 9]) }
            place += 2 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
        }
        return nil
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
            contentsOf: chunk("VP8X", header + littleEndian(size.width - 1, 3) + littleEndian(size.height - 1, 3)),
            at: 12)
        return bytes
    }

    /// A chunk, filled up to an even number of bytes.
    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        Array(name.utf8) + littleEndian(data.count, 4) + data + [UInt8](repeating: 0, count: data.count % 2)
    }

    /// The file with its length in the header.
    static func counted(_ file: [UInt8]) -> [UInt8] { file[..<4] + littleEndian(file.count - 8, 4) + file[8...] }

    private static func littleEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
