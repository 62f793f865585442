import Coordination

/// Each pixel replaced by one of those in a square around it, by their order: a median, or the darkest or brightest.
///
/// Each component is ordered by itself. The outermost pixels are repeated beyond the edges; alpha stays as it is.
package struct RankStep: Hashable {
    /// The place in the order.
    package enum Place: String, Hashable, Sendable {
        case least, median, most
    }

    /// The place in the order.
    package let place: Place
    /// Side of the square in pixels, 1…99.
    package let side: Int

    /// Nanoseconds of one core for each pixel, and for each pixel of a side; measured as ``TimePrice`` says.
    private static let time = (pixel: 150.0, side: 16.0)

    /// A step that takes the pixel at `place` in squares of `side` pixels.
    package init(_ place: Place, side: Int) {
        (self.place, self.side) = (place, side)
    }
}

extension RankStep: FilterStep {
    package func cost(of work: StepWork) -> StepCost {
        .filtering(work, time: Self.time.pixel + Self.time.side * Double(side))
    }

    package var keyText: String { "rank \(place.rawValue) \(side)" }

    package var words: String {
        switch place {
        case .least: "spread dark parts by squares of \(side) pixels"
        case .median: "take the median of squares of \(side) pixels"
        case .most: "spread bright parts by squares of \(side) pixels"
        }
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        // libvips refuses squares that are larger than the image.
        let side = min(side, image.width, image.height)
        let place =
            switch place {
            case .least: 0
            case .median: side * side / 2
            case .most: side * side - 1
            }
        image.watch(context.token)
        let image = try image.computed()
        try context.token.check()
        return try image.ranked(side: side, place: place)
    }
}
