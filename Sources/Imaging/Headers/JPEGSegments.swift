import Memory

/// Removes and inserts segments of JPEG files (ITU-T T.81 section B.1.1.4).
enum JPEGSegments {
    /// Returns the bytes of a segment.
    ///
    /// - Parameter contents: At most 65,533 bytes.
    static func segment(_ marker: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [0xFF, marker] + (contents.count + 2).bigEndianBytes(2) + contents
    }

    /// Returns an EXIF segment.
    ///
    /// - Parameter data: The data without the leading `Exif`.
    static func exif(_ data: [UInt8]) -> [UInt8] { segment(0xE1, Array("Exif\0\0".utf8) + data) }

    /// Returns the offset after the segments that must come first, JFIF's and EXIF's; nil in a file without a start.
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

    /// Inserts segments after those that must come first.
    static func inserting(_ segments: [UInt8], into file: SharedBytes) -> SharedBytes {
        file.withBytes { bytes in
            guard let place = start(bytes) else { return file }
            return joined([(0..<place, file), (0..<segments.count, SharedBytes(segments)), (place..<file.count, file)])
        }
    }

    /// Removes comments and application data, except those that describe how components are stored.
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

    static func joined(_ parts: [(range: Range<Int>, bytes: SharedBytes)]) -> SharedBytes {
        var result = ByteAccumulator(reservingCapacity: parts.reduce(0) { $0 + $1.range.count })
        for (range, bytes) in parts {
            unsafe bytes.withUnsafeBytes { unsafe result.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
        return result.finish()
    }

    /// Returns the number of components, 1 for gray; nil if no frame header is found.
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
