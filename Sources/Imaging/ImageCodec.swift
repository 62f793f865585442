package import Coordination
package import Memory

/// Where image files are turned into pixels: in this process, or in one that can do nothing else.
package protocol ImageCodec: Sendable {
    /// Decodes what `plan` says of a file whose head is known; blocks the calling thread, for as long as it takes.
    ///
    /// - Throws: ``ImagingError`` for the picture's faults, `CancellationError` or `DeadlineExceeded` when `token` says stop.
    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage
}

/// Decodes where it is called.
package struct InProcessCodec: ImageCodec {
    /// A decoder for any thread.
    package init() {}

    /// Decodes with ``ImageDecoder``.
    package func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try ImageDecoder.decode(bytes, header: header, plan: plan, limits: limits, token: token)
    }
}
