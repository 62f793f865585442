import Memory

/// The sequence of range requests: the start of the file, then the ranges that the scan needs.
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
    mutating func advance(to missing: [Range<Int>], of file: PartialFile, atMost limit: Int) -> Bool {
        guard let first = missing.first, count < Self.maximumRanges else { return false }
        let start = first.lowerBound
        // Include later ranges that are near.
        let reached = missing.last { $0.lowerBound < start + Self.maximumRangeBytes }?.upperBound ?? first.upperBound
        let length = min(max(reached - start, Self.minimumRangeBytes), Self.maximumRangeBytes)
        let remaining = min(limit, maximumBytes) - file.knownCount
        let end = min(start + min(length, remaining), file.count)
        // With less than a page, the parser would request the same range again.
        guard end >= min(start + PartialFile.page, file.count), end > start else { return false }
        count += 1
        range = start..<end
        return true
    }

    mutating func advance(to block: Range<Int>, of file: PartialFile) -> Bool {
        guard !block.isEmpty, block.upperBound <= file.count, block.count <= maximumBytes - file.knownCount else {
            return false
        }
        count += 1
        range = block
        return true
    }
}
