import Recipes

/// The scans of a progressive image that are visible at a level; skipping the rest saves most of the work.
///
/// A scan contains some frequencies of a component, or one more bit of them (ITU-T T.81 section G.1.1.1); decoders
/// assume zero for missing bits. docs/planar.md lists the scans of each level. All scan headers are read at every
/// level, so that an error in a header is an error at every level.
struct JPEGScans: Hashable {
    let highestStart: Int
    /// Scans that leave at least this many bits missing are also read, because refinements depend on them.
    let minimumBitsBefore: Int
    /// Whether libjpeg estimates missing low frequencies.
    let isSmoothed: Bool

    init(shownAt level: Int, isSmoothed: Bool = false) {
        (highestStart, minimumBitsBefore) =
            switch level {
            // The decoder uses only the mean of each block.
            case 8: (0, 64)
            case 4: (5, 3)
            case 2: (63, 2)
            default: (63, 0)
            }
        self.isSmoothed = isSmoothed
    }

    static let all = JPEGScans(shownAt: 1)

    /// Selects the scans for a level.
    ///
    /// Selects all scans if the file has no end marker, because the last scan must be checked and may refine earlier
    /// ones, or if it lacks frequencies, because libjpeg would also estimate skipped ones.
    init(of file: RawSpan, header: ImageHeader, level: Int) {
        guard header.isProgressive else {
            self = .all
            return
        }
        let found = FoundScans(file)
        self.init(shownAt: found.hasEnd && found.hasAllDetails ? level : 1, isSmoothed: !found.hasAllDetails)
    }
}

struct FoundScans {
    private(set) var hasEnd = false
    /// For each component, a bit set of the frequencies that are complete.
    private var known: [Int: UInt64] = [:]
    private var components: Int?

    /// Whether all frequencies of all components are complete.
    var hasAllDetails: Bool { known.count == components && known.values.allSatisfy { $0 == .max } }

    init(_ file: RawSpan) {
        var offset = 2
        while let (marker, next) = file.jpegMarker(from: offset) {
            hasEnd = marker == 0xD9
            guard !hasEnd, let end = file.jpegSegmentEnd(at: next) else { return }
            if marker == 0xC2 || marker == 0xCA { components = try? file.byte(at: next + 7) }
            if marker == 0xDA { addScan(of: file, at: next) }
            offset = end
        }
    }

    private mutating func addScan(of file: RawSpan, at offset: Int) {
        guard let count = try? file.byte(at: offset + 2), case let end = offset + 3 + 2 * count,
            let first = try? file.byte(at: end), let last = try? file.byte(at: end + 1), first <= last, last <= 63,
            let bits = try? file.byte(at: end + 2), bits & 15 == 0
        else { return }
        let frequencies = UInt64.max << UInt64(first) & UInt64.max >> UInt64(63 - last)
        for index in 0..<count {
            guard let component = try? file.byte(at: offset + 3 + 2 * index) else { return }
            known[component, default: 0] |= frequencies
        }
    }
}
