/// Pixels that a decoder processes for an item: the largest of its own, its alpha plane's, and the sum of the items
/// that it is made of.
///
/// A grid may crop its tiles, and an overlay may use the same large item many times: the shown size says little about
/// the work.
struct HEIFAreas {
    private let items: HEIFItems
    private var known: [Int: Int] = [:]
    /// The items from the primary one down to the current one.
    private var path: Set<Int> = []

    /// Deepest nesting of items; a turned overlay of grids has three levels.
    static let deepest = 8

    /// Computes the areas of these items.
    init(_ items: HEIFItems) {
        self.items = items
    }

    /// The area of an item; saturates instead of overflowing, because properties may claim any size.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` for an item that contains itself, or is nested too deep.
    mutating func area(of item: Int, in bytes: RawSpan) throws(ImagingError) -> Int {
        if let area = known[item] { return area }
        guard path.count < Self.deepest, path.insert(item).inserted else {
            throw .cannotDecode(detail: "an item contains itself, or is nested too deep")
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
