public import Foundation

/// Decodes files into images of a platform.
public protocol ThumbnailDecoding: Sendable {
    /// An image whose pixels are in memory.
    associatedtype Image: Sendable

    /// Returns the image in a file, with its pixels decoded; nil if the platform cannot decode it.
    ///
    /// Called on background threads.
    func image(from data: Data) -> Image?

    /// Returns the size of an image's pixels in bytes.
    func cost(of image: Image) -> Int
}
