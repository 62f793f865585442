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
}
