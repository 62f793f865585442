import Memory

/// Which scans of a progressive picture show at the level of a decode; the others are not even read, which saves most of the work.
///
/// A scan holds some frequencies of a component, or one more bit of them (ITU-T T.81 section G.1.1.1); a decoder takes what is
/// missing for zero. See docs/planar.md for how much a level needs. The heads of all scans are read at every level, so that what is
/// wrong there is wrong at every level.
struct JPEGScans: Hashable {
    /// Of the scans of details those that begin at this frequency or below; 63 is the finest, and none begins at 0.
    let highestStart: Int
    /// Of the scans that make earlier ones finer, those before which at least so many bits were missing.
    let leastBitsBefore: Int

    /// The scans that can be seen in a result that is at most half as large as the level's picture.
    init(shownAt level: Int) {
        (highestStart, leastBitsBefore) =
            switch level {
            // The decoder takes the mean of a block: nothing else counts.
            case 8: (0, 64)
            case 4: (5, 3)
            case 2: (63, 2)
            default: (63, 0)
            }
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
}

/// What a scan's head says of a progressive picture.
private struct Scan {
    /// Its frequencies, 0 for the means of blocks and 63 for the finest detail.
    let frequencies: ClosedRange<Int>
    /// Bits that it leaves to later scans.
    let bitsAfter: Int
    /// The components that it is about.
    let components: [Int]

    init?(_ file: RawSpan, at offset: Int) {
        guard let count = try? file.byte(at: offset + 2), case let end = offset + 3 + 2 * count,
            let first = try? file.byte(at: end), let last = try? file.byte(at: end + 1),
            let bits = try? file.byte(at: end + 2)
        else { return nil }
        components = (0..<count).compactMap { try? file.byte(at: offset + 3 + 2 * $0) }
        frequencies = min(63, first)...max(min(63, first), min(63, last))
        bitsAfter = bits & 15
    }
}
