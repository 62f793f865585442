package import Coordination
package import Memory

extension ImageCodec {
    /// Draws what a border surrounds in an image of shapes, in the size that it is needed in; blocks the calling thread
    /// until the work ends.
    ///
    /// A first drawing in natural size shows the border. The second one depends on nothing but that and `border`.
    ///
    /// - Parameters:
    ///   - header: The file's header.
    ///   - plan: The first drawing.
    ///   - reserve: Reserves memory for the second drawing; it is told which one that is.
    /// - Throws: As ``decode(_:header:plan:limits:token:)``, ``ImagingError`` for a drawing that the limits exclude,
    ///   and what `reserve` throws.
    package func draw(
        _ bytes: SharedBytes, inside border: BorderTrim, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits,
        token: WorkToken, reserve: (DecodePlan) throws -> Void
    ) throws -> DecodedImage {
        let box = try border.box(
            in: decode(bytes, header: header, plan: plan, limits: limits, token: token), token: token)
        let drawing = try border.drawing(inside: box, of: plan)
        try drawing.check(header, limits: limits)
        try reserve(drawing)
        let image = try decode(bytes, header: header, plan: drawing, limits: limits, token: token)
        return DecodedImage(
            pixels: image.pixels, size: image.size, bands: image.bands, isIncomplete: image.isIncomplete, box: box)
    }
}
