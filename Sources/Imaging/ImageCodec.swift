package import Coordination
package import Memory
package import Recipes

/// Decodes and encodes in this process, or in a confined worker process that can be terminated.
///
/// Calls block the thread.
package protocol ImageCodec: Sendable {
    /// - Throws: ``ImagingError`` for faults of the image, and ``UnderestimatedDecode``.
    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage

    /// A still in a format with ``ImageFormat/isEncodedByWorker``, or an animation with
    /// ``ImageFormat/isAnimationEncodedByWorker``.
    ///
    /// - Parameter image: Interleaved pixels, or planes of the format's range.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``.
    func encode(
        _ image: DecodedImage, as format: ImageFormat, settings: EncoderSettings, token: WorkToken
    ) throws -> SharedBytes

    func faces(_ search: FaceSearch, token: WorkToken) throws -> [Face]
}

extension ImageCodec {
    /// Finds faces in this process, without interruption.
    package func faces(_ search: FaceSearch, token: WorkToken) throws -> [Face] {
        try token.check()
        return try search.faces()
    }
}

/// A decode took far more CPU time than the cost by its header, and ended; see
/// ``ImagingLimits/endsUnderestimatedDecodes``.
package struct UnderestimatedDecode: Error {
    package init() {}
}

package struct InProcessCodec: ImageCodec {
    package init() {}

    package func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try ImageDecoder.decode(bytes, header: header, plan: plan, limits: limits, token: token)
    }

    /// Checks `token` before and after, because the encoder cannot be interrupted.
    package func encode(
        _ image: DecodedImage, as format: ImageFormat, settings: EncoderSettings, token: WorkToken
    ) throws -> SharedBytes {
        try token.check()
        let file = try ImageEncoder.encode(image, as: format, settings: settings)
        try token.check()
        return file
    }
}

extension ImageCodec {
    /// The map is decoded as a separate file.
    ///
    /// If that fails, only the map is lost.
    ///
    /// - Parameter image: The image without its map, if it was decoded before.
    package func decodeWithGainMap(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken,
        of image: DecodedImage? = nil
    ) throws -> DecodedImage {
        let image = try image ?? decode(bytes, header: header, plan: plan, limits: limits, token: token)
        guard let (map, mapPlan) = plan.gainMap(of: header), let file = map.file(in: bytes) else { return image }
        do {
            let decoded = try decode(file, header: map.header, plan: mapPlan, limits: limits, token: token)
            guard !decoded.hasAlpha else { return image }
            return DecodedImage(image, with: try DecodedGainMap(decoded, of: map, token: token))
        } catch is ImagingError {
            return image
        }
    }

    func decodeResult(_ file: SharedBytes, as format: ImageFormat, token: WorkToken) throws -> DecodedImage {
        let reader: any ImageCodec = format.reading.needsConfinement ? self : InProcessCodec()
        return try reader.decode(
            file, header: ImageHeader.inspect(file), plan: DecodePlan(), limits: .none, token: token)
    }

    /// Draws the part of a vector image inside a border, at the required size.
    ///
    /// A first drawing at natural size reveals the border. The second one depends only on that and on `border`.
    ///
    /// - Parameters:
    ///   - plan: The first drawing.
    ///   - reserve: Reserves memory for the second drawing, which it gets as a plan.
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
