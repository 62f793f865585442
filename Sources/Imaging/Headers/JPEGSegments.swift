import Memory

/// Takes segments out of JPEG files and puts others in (ITU-T T.81 section B.1.1.4).
enum JPEGSegments {
    /// A segment as bytes.
    ///
    /// - Parameter contents: At most 65,533 bytes.
    static func segment(_ marker: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [0xFF, marker] + (contents.count + 2).bigEndianBytes(2) + contents
    }

    /// A segment of Exif.
    ///
    /// - Parameter data: The data without the leading `Exif`.
    static func exif(_ data: [UInt8]) -> [UInt8] { segment(0xE1, Array("Exif\0\0".utf8) + data) }

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

    /// The number of components, 1 for gray; nil if no frame header is found.
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
