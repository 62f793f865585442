package import Memory

/// A finished result: the bytes of an image file that the service made.
package struct EncodedImage: Sendable {
    /// The bytes of the file.
    package let bytes: SharedBytes
    package let format: ImageFormat
    /// Size of one frame in pixels.
    package let size: PixelSize
    /// The quality that a search found; nil if the quality was given.
    package let quality: Int?

    /// Wraps the output of an encoder.
    package init(bytes: SharedBytes, format: ImageFormat, size: PixelSize, quality: Int? = nil) {
        self.bytes = bytes
        self.format = format
        self.size = size
        self.quality = quality
    }
}
