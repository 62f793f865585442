package import Coordination
package import Memory

/// Decoding, and encoding that cannot be stopped: in this process, or in a confined worker process that can be ended.
package protocol ImageCodec: Sendable {
    /// Decodes a file as `plan` says; blocks the calling thread until the work ends.
    ///
    /// - Parameter header: The file's header.
    /// - Throws: ``ImagingError`` for faults of the image, `CancellationError` or `DeadlineExceeded` if `token` stops
    ///   the work.
    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage

    /// Writes a finished still in a format that ``ImageFormat/isEncodedInOneStep``; blocks the calling thread until the
    /// work ends.
    ///
    /// - Parameters:
    ///   - image: Interleaved pixels, or planes of the range that the format is written from.
    ///   - quality: 1…100; ignored if the format has no quality.
    ///   - effort: The encoder's effort, in its own scale.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``, `CancellationError` or `DeadlineExceeded` if `token` stops the
    ///   work.
    func encode(
        _ image: DecodedImage, as format: ImageFormat, quality: Int, effort: Int, token: WorkToken
    ) throws -> SharedBytes
}

/// Decodes and encodes in this process, on the calling thread.
package struct InProcessCodec: ImageCodec {
    /// A codec for any thread.
    package init() {}

    /// Decodes with ``ImageDecoder``.
    package func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try ImageDecoder.decode(bytes, header: header, plan: plan, limits: limits, token: token)
    }

    /// Encodes with ``ImageEncoder``; asks `token` before and after, because the encoder cannot be stopped.
    package func encode(
        _ image: DecodedImage, as format: ImageFormat, quality: Int, effort: Int, token: WorkToken
    ) throws -> SharedBytes {
        try token.check()
        let file = try ImageEncoder.encode(image, as: format, quality: quality, effort: effort)
        try token.check()
        return file
    }
}
