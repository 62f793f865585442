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

    /// Writes a finished still as an AVIF file; blocks the calling thread, for as long as it takes.
    ///
    /// AV1's encoder is the one that cannot be asked to stop.
    /// - Parameters:
    ///   - picture: Interleaved, or the three planes of a picture in full range.
    ///   - quality: 1…100.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``, `CancellationError` or `DeadlineExceeded` when `token` says stop.
    func encodeAVIF(_ picture: DecodedImage, quality: Int, token: WorkToken) throws -> SharedBytes
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
    package func encodeAVIF(_ picture: DecodedImage, quality: Int, token: WorkToken) throws -> SharedBytes {
        try token.check()
        let file = try ImageEncoder.encodeAVIF(picture, quality: quality)
        try token.check()
        return file
    }
}
