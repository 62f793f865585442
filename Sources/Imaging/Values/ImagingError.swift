/// Why an image could not be decoded, or a result could not be made.
package enum ImagingError: Error, Hashable, Sendable {
    /// The leading bytes belong to no known image format; also an empty file.
    case notAnImage
    /// An image in a format that the settings do not admit as a source.
    case formatNotAccepted(ImageFormat)
    /// The file is damaged, truncated, or of a kind that the decoder does not support; the detail is for logs only.
    case cannotDecode(detail: String)
    /// A file of a kind that is not read; the text ends a sentence that begins with "The source is".
    case unsupported(String)
    /// More pixels than allowed: in the source (all frames that would be decoded), between two steps or in the result.
    case tooManyPixels(PixelSize, frames: Int = 1)
    /// The steps would take longer than a render may, with a result of this size.
    case tooMuchWork(PixelSize)
    /// The result has a side that its format cannot hold.
    case sideTooLong(PixelSize, format: ImageFormat)
    /// The requested page is after the last one.
    case noSuchPage(Int, pages: Int)
    /// The frames up to the requested one would take longer to decode than a decode may.
    case frameTooLate(Int)
    /// The requested part lies outside of the image, which has this size.
    case cropOutside(PixelSize)
    /// Memory was short, and the image is not at fault; the detail is for logs only.
    case outOfMemory(detail: String)
    /// An additional source of this number, from 0, is at fault.
    indirect case ofAddition(Int, ImagingError)
    /// The encoder failed on an image that was decoded: a fault of the service; the detail is for logs only.
    case encodeFailed(detail: String)
}
