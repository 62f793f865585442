package enum ImagingError: Error, Hashable, Sendable {
    case notAnImage
    case formatNotAccepted(ImageFormat)
    /// Damaged, truncated, or of a kind that the decoder does not support; the detail is for logs only.
    case cannotDecode(detail: String)
    /// The text completes a sentence that begins with "The source is".
    case unsupported(String)
    /// Too many pixels in the source (all frames to decode), between two steps or in the result.
    case tooManyPixels(PixelSize, frames: Int = 1)
    /// The steps would exceed the time limit of a render, with a result of this size.
    case tooMuchWork(PixelSize)
    case sideTooLong(PixelSize, format: ImageFormat)
    case noSuchPage(Int, pages: Int)
    /// The limit is the time of a decode.
    case frameTooLate(Int)
    case cropOutside(PixelSize)
    /// The service ran out of memory, and the image is not at fault; the detail is for logs only.
    case outOfMemory(detail: String)
    indirect case ofAddition(Int, ImagingError)
    /// The encoder failed on a decoded image, which is a bug in the service; the detail is for logs only.
    case encodeFailed(detail: String)
}
