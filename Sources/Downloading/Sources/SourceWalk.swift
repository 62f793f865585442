import Memory

/// Finds the bytes of a source that its reader needs, so that the others need not be fetched.
package struct SourceWalk: Sendable, Hashable {
    /// Requests for the same extent share a fetch.
    package enum Extent: Sendable, CaseIterable {
        case whole
        /// The facts that the file states about itself.
        case header
        /// A photograph's facts and its preview.
        case preview
    }

    package enum Need: Sendable {
        case complete
        /// In order; the first is certain, others may not be needed once its bytes are known. The limit counts all
        /// bytes, those known included.
        case ranges([Range<Int>], atMost: Int)
        /// One range, all of which is needed.
        case run(Range<Int>)
        case whole
    }

    let extent: Extent
    package let need: @Sendable (PartialSource) -> Need

    package init(_ extent: Extent, need: @escaping @Sendable (PartialSource) -> Need) {
        (self.extent, self.need) = (extent, need)
    }

    package static func == (left: SourceWalk, right: SourceWalk) -> Bool { left.extent == right.extent }

    package func hash(into hasher: inout Hasher) { hasher.combine(extent) }
}

/// The order of ranges: the start of the file, then what the walk needs.
struct RangePlan {
    static let firstBytes = 64 << 10
    /// A request takes longer than these bytes.
    private static let minimumRangeBytes = 16 << 10
    private static let maximumRangeBytes = 32 << 10
    private static let maximumRanges = 8

    private(set) var range: Range<Int>
    private let maximumBytes: Int
    private var count = 1

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
        range = 0..<min(Self.firstBytes, maximumBytes)
    }

    /// Returns false if the limits allow no further range.
    mutating func advance(to missing: [Range<Int>], of file: FileParts, atMost limit: Int) -> Bool {
        guard let first = missing.first, count < Self.maximumRanges else { return false }
        let start = first.lowerBound
        // Others may be near.
        let reached = missing.last { $0.lowerBound < start + Self.maximumRangeBytes }?.upperBound ?? first.upperBound
        let length = min(max(reached - start, Self.minimumRangeBytes), Self.maximumRangeBytes)
        let room = min(limit, maximumBytes) - file.knownCount
        let end = min(start + min(length, room), file.count)
        // With less than a page, the parser would need the same range again.
        guard end >= min(start + FileParts.page, file.count), end > start else { return false }
        count += 1
        range = start..<end
        return true
    }

    mutating func advance(to run: Range<Int>, of file: FileParts) -> Bool {
        guard !run.isEmpty, run.upperBound <= file.count, run.count <= maximumBytes - file.knownCount else {
            return false
        }
        count += 1
        range = run
        return true
    }
}
