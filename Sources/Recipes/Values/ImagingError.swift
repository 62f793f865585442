package enum ImagingError: Error, Hashable, Sendable {
    case notAnImage
    case formatNotAccepted(ImageFormat)
    /// The file is damaged, truncated, or not supported by the decoder; the detail is only for logs.
    case cannotDecode(detail: String)
    /// The text completes the sentence "The source is …".
    case unsupported(String)
    /// Too many pixels in the source (all decoded frames), between steps or in the result.
    case tooManyPixels(PixelSize, frames: Int = 1)
    /// The steps for a result of this size would exceed the time limit.
    case tooMuchWork(PixelSize)
    case sideTooLong(PixelSize, format: ImageFormat)
    case noSuchPage(Int, pages: Int)
    /// The frame is so far into the animation that decoding takes too long.
    case frameTooLate(Int)
    case cropOutside(PixelSize)
    /// The service ran out of memory; the image is not at fault, and the detail is only for logs.
    case outOfMemory(detail: String)
    indirect case ofAddition(Int, ImagingError)
    /// The encoder failed, which is a bug in the service; the detail is only for logs.
    case encodeFailed(detail: String)
}
