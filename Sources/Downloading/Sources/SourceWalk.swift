import Memory

/// Finds the bytes of a source that its reader needs, so that only these are fetched.
package struct SourceWalk: Sendable, Hashable {
    /// The purpose of a walk; requests with the same one share a fetch.
    package enum Extent: Sendable, CaseIterable {
        case whole
        /// The facts in the file's header.
        case header
        /// The facts and the preview of a RAW photograph.
        case preview
    }

    package enum Need: Sendable {
        case complete
        /// Missing ranges in order.
        ///
        /// The first is needed; its bytes may make later ones unnecessary. The limit counts all bytes, including known
        /// ones.
        case ranges([Range<Int>], atMost: Int)
        /// One range that is needed completely.
        case run(Range<Int>)
        case whole
    }

    let extent: Extent
    package let need: @Sendable (PartialSource) -> Need

    package init(_ extent: Extent, need: @escaping @Sendable (PartialSource) -> Need) {
        self.extent = extent
        self.need = need
    }

    package static func == (left: SourceWalk, right: SourceWalk) -> Bool { left.extent == right.extent }

    package func hash(into hasher: inout Hasher) { hasher.combine(extent) }
}

/// The sequence of range requests: the start of the file, then the ranges that the walk needs.
struct RangePlan {
    static let firstBytes = 64 << 10
    /// Request at least this many bytes: a round trip takes longer than receiving them.
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

    /// Selects the next range; returns false if the limits allow no more.
    mutating func advance(to missing: [Range<Int>], of file: FileParts, atMost limit: Int) -> Bool {
        guard let first = missing.first, count < Self.maximumRanges else { return false }
        let start = first.lowerBound
        // Include later ranges that are near.
        let reached = missing.last { $0.lowerBound < start + Self.maximumRangeBytes }?.upperBound ?? first.upperBound
        let length = min(max(reached - start, Self.minimumRangeBytes), Self.maximumRangeBytes)
        let room = min(limit, maximumBytes) - file.knownCount
        let end = min(start + min(length, room), file.count)
        // With less than a page, the parser would request the same range again.
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
