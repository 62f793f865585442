package import Recipes

/// A turn written as an EXIF orientation.
extension QuarterTurn: ExpressibleByIntegerLiteral {
    package init(integerLiteral orientation: Int) { self = QuarterTurn(exif: orientation) ?? .none }
}
