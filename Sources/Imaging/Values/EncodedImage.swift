package import Memory

/// A finished result: the bytes of an image file that the service made.
package struct EncodedImage: Sendable {
    /// The file.
    package let bytes: SharedBytes
    /// The file's format.
    package let format: ImageFormat
    /// Size of one frame in pixels.
    package let size: PixelSize

    /// Wraps the output of an encoder.
    package init(bytes: SharedBytes, format: ImageFormat, size: PixelSize) {
        self.bytes = bytes
        self.format = format
        self.size = size
    }
}
