package import Coordination
package import Memory
package import Recipes

/// Decodes and encodes in this process, or in a confined worker process that can be killed.
///
/// Calls block the thread.
package protocol ImageCodec: Sendable {
    /// - Throws: ``ImagingError`` for faults of the image, and ``UnderestimatedDecode``.
    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage

    /// Encodes images of formats that are encoded by worker processes.
    ///
    /// These are stills with ``ImageFormat/isEncodedByWorker`` and animations with
    /// ``ImageFormat/isAnimationEncodedByWorker``.
    ///
    /// - Parameter image: Interleaved pixels, or planes in the format's range.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``.
    func encode(
        _ image: DecodedImage, as format: ImageFormat, settings: EncoderSettings, token: WorkToken
    ) throws -> SharedBytes

    func faces(_ search: FaceSearch, token: WorkToken) throws -> [Face]
}

extension ImageCodec {
    /// Detects faces in this process; cannot be interrupted.
    package func faces(_ search: FaceSearch, token: WorkToken) throws -> [Face] {
        try token.check()
        return try search.faces()
    }
}

/// A decode was ended because it took far more CPU time than estimated.
///
/// See ``ImagingLimits/endsUnderestimatedDecodes``.
package struct UnderestimatedDecode: Error {
    package init() {}
}

/// Thrown if the machine is short of memory or descriptors; the image is not at fault.
package struct WorkerUnavailable: Error {
    package let detail: String

    package init(detail: String) { self.detail = detail }
}

package struct InProcessCodec: ImageCodec {
    package init() {}

    package func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try ImageDecoder.decode(bytes, header: header, plan: plan, limits: limits, token: token)
    }

    /// Encodes; checks `token` before and after, because encoders cannot be interrupted.
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
    /// Decodes an image and its gain map, which is a separate file.
    ///
    /// If the map cannot be decoded, only the map is lost.
    ///
    /// - Parameter image: The image without its map, if already decoded.
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

    /// Draws the region of a vector image inside a border, at the required size.
    ///
    /// A first drawing at natural size is used to find the border.
    ///
    /// - Parameters:
    ///   - plan: The plan of the first drawing.
    ///   - reserve: Reserves memory for the second drawing, given its plan.
    package func draw(
        _ bytes: SharedBytes, inside border: BorderTrim, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits,
        token: WorkToken, reserve: (DecodePlan) throws -> Void
    ) throws -> DecodedImage {
        let box = try border.box(
            in: decode(bytes, header: header, plan: plan, limits: limits, token: token), token: token)
        let drawing = try border.decodePlan(inside: box, of: plan)
        try drawing.check(header, limits: limits)
        try reserve(drawing)
        let image = try decode(bytes, header: header, plan: drawing, limits: limits, token: token)
        return DecodedImage(
            pixels: image.pixels, size: image.size, bands: image.bands, isIncomplete: image.isIncomplete, box: box)
    }
}
