/// Pixels that a decoder goes through for an item: its own, those of its alpha plane, or those of all that it is made of, whichever
/// are most.
///
/// A grid may cut its tiles, and an overlay may lay the same large item on itself again and again: the shown size says little of the work.
struct HEIFAreas {
    private let items: HEIFItems
    private var known: [Int: Int] = [:]
    /// The items on the way to the one that is looked at.
    private var path: Set<Int> = []

    /// Items of items: a turned overlay of grids has three.
    private static let deepest = 8

    /// Reckons with these items.
    init(_ items: HEIFItems) {
        self.items = items
    }

    /// Saturates instead of overflowing: properties may claim any size.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` for what is made of itself, or of too many layers.
    mutating func area(of item: Int, in bytes: RawSpan) throws(ImagingError) -> Int {
        if let area = known[item] { return area }
        guard path.count < Self.deepest, path.insert(item).inserted else {
            throw .cannotDecode(detail: "an item that is made of itself, or of too many")
        }
        var sum = 0
        for source in items.sources(of: item) {
            let (total, overflow) = sum.addingReportingOverflow(try area(of: source, in: bytes))
            sum = overflow ? .max : total
        }
        var own = 0
        for case .size(let size) in try items.properties(of: item, in: bytes) {
            let (area, overflow) = size.width.multipliedReportingOverflow(by: size.height)
            own = max(own, overflow ? .max : area)
        }
        for auxiliary in items.auxiliaries(of: item) { own = max(own, try area(of: auxiliary, in: bytes)) }
        path.remove(item)
        known[item] = max(own, sum)
        return max(own, sum)
    }
}
