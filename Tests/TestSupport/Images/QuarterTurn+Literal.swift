package import Recipes

/// A turn as the number of its EXIF orientation.
extension QuarterTurn: ExpressibleByIntegerLiteral {
    package init(integerLiteral orientation: Int) { self = QuarterTurn(exif: orientation) ?? .none }
}
