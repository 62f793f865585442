import Recipes

/// The work to decode all items, which neither the visible size nor the size of the file limits.
///
/// A grid may crop its tiles, and an overlay may use the same large item many times.
struct HEIFWork {
    /// Amounts of work; an item counts each time it is used, because it is decoded each time.
    struct Amounts {
        /// Pixels, including the canvases of layers.
        var area = 0
        /// Decoder starts: one per coded item, and one per frame after its first.
        var runs = 0
        var hiddenArea = 0
        var byteCount = 0
    }

    private let items: HEIFItems
    private let countsFrames: Bool
    private var memo: [Int: Amounts] = [:]
    private var frames = CodedFrames()
    private var path: Set<Int> = []

    /// The maximum nesting; a turned overlay of grids has three levels.
    static let maximumDepth = 8
    /// The maximum data relative to the file's size: several tiles may use the same item.
    private static let maximumBytes = (factor: 4, offset: 16 << 20)

    init(_ items: HEIFItems, countsFrames: Bool = true) {
        self.items = items
        self.countsFrames = countsFrames
    }

    mutating func amounts(of item: Int, in bytes: RawSpan) throws(ImagingError) -> Amounts {
        let amounts = try add(item, in: bytes)
        guard amounts.runs <= ImageHeader.maximumDecoderRuns else {
            throw .cannotDecode(detail: "the image consists of \(amounts.runs) items")
        }
        guard amounts.byteCount <= bytes.byteCount * Self.maximumBytes.factor + Self.maximumBytes.offset else {
            throw .cannotDecode(detail: "the image consists of \(amounts.byteCount) coded bytes")
        }
        return amounts
    }

    private mutating func add(_ item: Int, in bytes: RawSpan) throws(ImagingError) -> Amounts {
        if let amounts = memo[item] { return amounts }
        guard path.count < Self.maximumDepth, path.insert(item).inserted else {
            throw .cannotDecode(detail: "an item contains itself, or is nested too deep")
        }
        let sources = items.sources(of: item)
        var sourceAmounts = Amounts()
        for source in sources { sourceAmounts += try add(source, in: bytes) }
        var amounts = try ownAmounts(of: item, isCoded: sources.isEmpty, in: bytes)
        // The canvas of layers is in memory while they are decoded; tiles of coded items are decoded into place.
        if !sources.isEmpty, items.isLayered(item) {
            amounts += sourceAmounts
        } else {
            amounts.addReusingArea(sourceAmounts)
        }
        // At most one of them is decoded, as alpha.
        var auxiliary = Amounts()
        for other in items.auxiliaries(of: item) { auxiliary.raise(to: try add(other, in: bytes)) }
        amounts.addReusingArea(auxiliary)
        path.remove(item)
        memo[item] = amounts
        return amounts
    }

    /// Returns the work for an item without the items that it uses.
    private mutating func ownAmounts(of item: Int, isCoded: Bool, in bytes: RawSpan) throws(ImagingError) -> Amounts {
        var amounts = Amounts(runs: 1)
        // Properties can claim any size.
        let properties = try items.properties(of: item, in: bytes)
        for case .size(let size) in properties {
            amounts.area = max(amounts.area, size.width.saturatingProduct(size.height))
        }
        guard isCoded, let data = try? items.locations.extents(of: item, in: bytes) else { return amounts }
        amounts.byteCount = data.byteCount
        let hidden = try hiddenFrames(of: item, data: data, parameters: properties.parameters, in: bytes)
        amounts.runs += hidden
        amounts.hiddenArea = amounts.area.saturatingProduct(hidden)
        return amounts
    }

    private mutating func hiddenFrames(
        of item: Int, data: [Range<Int>], parameters: Range<Int>?, in bytes: RawSpan
    ) throws(ImagingError) -> Int {
        guard countsFrames, let coding = HEIFCoding(type: items.types[item]) else { return 0 }
        return max(0, try frames.count(coding, in: data, parameters: parameters, of: bytes) - 1)
    }
}

extension HEIFItems {
    fileprivate func isLayered(_ item: Int) -> Bool {
        types[item] == BoxCursor.type("iovl")
            || types[item] == BoxCursor.type("grid")
                && !sources(of: item).allSatisfy { HEIFCoding(type: types[$0]) != nil }
    }
}

extension HEIFWork.Amounts {
    fileprivate static func += (one: inout Self, other: Self) {
        one.area = one.area.saturatingSum(other.area)
        one.runs = one.runs.saturatingSum(other.runs)
        one.hiddenArea = one.hiddenArea.saturatingSum(other.hiddenArea)
        one.byteCount = one.byteCount.saturatingSum(other.byteCount)
    }

    fileprivate mutating func raise(to other: Self) {
        area = max(area, other.area)
        runs = max(runs, other.runs)
        hiddenArea = max(hiddenArea, other.hiddenArea)
        byteCount = max(byteCount, other.byteCount)
    }

    fileprivate mutating func addReusingArea(_ other: Self) {
        let area = max(area, other.area)
        self += other
        self.area = area
    }
}

extension [Range<Int>] {
    var byteCount: Int { reduce(0) { $0.saturatingSum($1.count) } }
}
