import Memory

/// Keeps from the JPEG decoder the scans of a progressive picture whose details do not show at the level of a decode.
///
/// A scan holds some frequencies of a component, or one more bit of them (ITU-T T.81 section G.1.1.1); a decoder takes what is
/// missing for zero. What is left out is not even read, which is most of the work: see docs/planar.md for how much a level needs.
enum JPEGScans {
    /// The file without the scans that `level` has no need of; as it is where nothing can be left out.
    static func trim(_ file: SharedBytes, level: Int) -> SharedBytes {
        // One that is cut short is to fail, wherever it is cut.
        guard level > 1, file.withBytes({ isComplete($0) }) else { return file }
        return file.keeping { bytes, keep in forEachNeededPart(of: bytes, level: level, keep) }
    }

    /// Whether the scans hold all frequencies of all components to the last bit: of what they lack libjpeg can guess the coarsest.
    static func haveAllDetails(_ file: SharedBytes) -> Bool {
        file.withBytes { bytes in
            var components: Int?
            // Frequencies of each component that are known to the last bit.
            var known: [Int: Set<Int>] = [:]
            var offset = 2
            while let (marker, next) = bytes.jpegMarker(from: offset), marker != 0xD9,
                let end = bytes.jpegSegmentEnd(at: next)
            {
                if marker == 0xC2 || marker == 0xCA { components = try? bytes.byte(at: next + 7) }
                if marker == 0xDA, let scan = Scan(bytes, at: next), scan.bitsAfter == 0 {
                    for component in scan.components { known[component, default: []].formUnion(scan.frequencies) }
                }
                offset = end
            }
            return known.count == components && known.values.allSatisfy { $0.count == 64 }
        }
    }

    private static func isComplete(_ file: RawSpan) -> Bool {
        var offset = 2
        while let (marker, next) = file.jpegMarker(from: offset) {
            if marker == 0xD9 { return true }
            guard let end = file.jpegSegmentEnd(at: next) else { return false }
            offset = end
        }
        return false
    }

    private static func forEachNeededPart(of file: RawSpan, level: Int, _ keep: (Range<Int>) -> Void) {
        // Neighbours are kept in one piece, beginning here; nil behind a scan that is left out.
        var start: Int? = 0
        var offset = 2
        while let (marker, next) = file.jpegMarker(from: offset), marker != 0xD9,
            let end = file.jpegSegmentEnd(at: next)
        {
            // What follows a scan's head, up to the next marker, belongs to it.
            if marker == 0xDA, let scan = Scan(file, at: next), !scan.isNeeded(at: level) {
                if let start, start < next - 2 { keep(start..<next - 2) }
                start = nil
            } else if start == nil {
                start = next - 2
            }
            offset = end
        }
        if start == nil, let (_, end) = file.jpegMarker(from: offset) { start = end - 2 }
        if let start { keep(start..<file.byteCount) }
    }
}

/// What a scan's head says of a progressive picture.
private struct Scan {
    /// The first of its frequencies, 0 for the means of blocks and 63 for the finest detail.
    let firstFrequency: Int
    /// The last one.
    private let lastFrequency: Int
    /// Bits that earlier scans have left out, 0 where there were none; and those that this one leaves out.
    let bitsBefore, bitsAfter: Int
    /// The components that it is about.
    let components: [Int]

    /// All of its frequencies.
    var frequencies: ClosedRange<Int> { firstFrequency...max(firstFrequency, min(63, lastFrequency)) }

    init?(_ file: RawSpan, at offset: Int) {
        guard let count = try? file.byte(at: offset + 2), case let end = offset + 3 + 2 * count,
            let first = try? file.byte(at: end), let last = try? file.byte(at: end + 1),
            let bits = try? file.byte(at: end + 2)
        else { return nil }
        components = (0..<count).compactMap { try? file.byte(at: offset + 3 + 2 * $0) }
        (firstFrequency, lastFrequency) = (min(63, first), last)
        (bitsBefore, bitsAfter) = (bits >> 4, bits & 15)
    }

    /// Whether its details can be seen in a result that is at most half as large as the level's picture.
    func isNeeded(at level: Int) -> Bool {
        if firstFrequency == 0 { return true }
        return switch level {
        // The decoder takes the mean of a block: nothing else counts.
        case 8: false
        case 4: firstFrequency <= 5 && (bitsBefore == 0 || bitsBefore > 2)
        case 2: bitsBefore == 0 || bitsBefore > 1
        default: true
        }
    }
}
