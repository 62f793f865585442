package import Coordination
package import Memory

/// What libraries do that the service does not trust to stop, or to do nothing else: in this process, or in one that can be ended.
package protocol ImageCodec: Sendable {
    /// Decodes what `plan` says of a file whose head is known; blocks the calling thread, for as long as it takes.
    ///
    /// - Throws: ``ImagingError`` for the picture's faults, `CancellationError` or `DeadlineExceeded` when `token` says stop.
    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage

    /// Writes a finished still in a format that ``ImageFormat/isEncodedInOneStep``; blocks the calling thread, for as long as it takes.
    ///
    /// - Parameters:
    ///   - picture: Interleaved, or for AVIF the three planes of a picture in full range.
    ///   - quality: 1…100, where the format knows quality.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``, `CancellationError` or `DeadlineExceeded` when `token` says stop.
    func encode(
        _ picture: DecodedImage, as format: ImageFormat, quality: Int, token: WorkToken
    ) throws -> SharedBytes
}

/// Decodes and encodes where it is called.
package struct InProcessCodec: ImageCodec {
    /// A codec for any thread.
    package init() {}

    /// Decodes with ``ImageDecoder``.
    package func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try ImageDecoder.decode(bytes, header: header, plan: plan, limits: limits, token: token)
    }

    /// Encodes with ``ImageEncoder``, to the end, whatever `token` says meanwhile.
    package func encode(
        _ picture: DecodedImage, as format: ImageFormat, quality: Int, token: WorkToken
    ) throws -> SharedBytes {
        try token.check()
        let file = try ImageEncoder.encode(picture, as: format, quality: quality)
        try token.check()
        return file
    }
}
