/// Why a picture could not be made.
package enum ImagingError: Error, Hashable, Sendable {
    /// The leading bytes belong to no image format that is known here; also the empty file.
    case notAnImage
    /// An image, in a format that the settings do not admit as a source.
    case formatNotAccepted(ImageFormat)
    /// Damaged, cut short, or of a kind that the decoder does not know; the detail is for logs only.
    case cannotDecode(detail: String)
    /// More pixels than allowed, in the source (all frames that would be decoded), on the way or in the result.
    case tooManyPixels(PixelSize, frames: Int = 1)
    /// The result has a side that its format cannot hold.
    case sideTooLong(PixelSize, format: ImageFormat)
    /// The page asked for lies behind the last one.
    case noSuchPage(Int, pages: Int)
    /// The encoder failed on a picture that was decoded well: a fault of ours; the detail is for logs only.
    case encodeFailed(detail: String)
}
