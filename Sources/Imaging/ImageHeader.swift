/// What the head of an image file says, read before a pixel is decoded.
package struct ImageHeader: Hashable, Sendable {
    /// The format by the leading bytes.
    package let format: ImageFormat
    /// Size as the decoder makes it, before it is turned upright; of the canvas for animations.
    package let storedSize: PixelSize
    /// Pixels that a decoder goes through for one frame: more than are shown of an AVIF or HEIC picture that is cut or put together.
    package let decodedArea: Int
    /// How the stored picture is to be turned, 1…8 as in EXIF; 1 is upright.
    package let orientation: Int
    /// Colour and alpha components of a pixel: 1 grey, 2 grey with alpha, 3 colour, 4 colour with alpha or CMYK.
    ///
    /// Palettes count as the colours they stand for.
    package let bands: Int
    /// Bits of one component; 8 for palettes.
    package let bitDepth: Int
    /// Frames of an animation, 1 for stills.
    package let frames: Int
    /// Whether parts may be transparent.
    package let hasAlpha: Bool
    /// Progressive JPEG, interlaced PNG or GIF: a picture that comes in passes.
    package let isProgressive: Bool
    /// Whether chroma is stored at quarter size or less, which halves what the coefficients of a progressive JPEG take.
    package let isChromaSubsampled: Bool
    /// Bytes of the ICC profile as stored (compressed in PNG), 0 without one.
    package let profileByteCount: Int

    /// A header of these values.
    package init(
        format: ImageFormat, storedSize: PixelSize, decodedArea: Int = 0, orientation: Int = 1, bands: Int = 3,
        bitDepth: Int = 8, frames: Int = 1, hasAlpha: Bool = false, isProgressive: Bool = false,
        isChromaSubsampled: Bool = false,
        profileByteCount: Int = 0
    ) {
        self.format = format
        self.storedSize = storedSize
        self.decodedArea = max(decodedArea, storedSize.area)
        self.orientation = orientation
        self.bands = bands
        self.bitDepth = bitDepth
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.isProgressive = isProgressive
        self.isChromaSubsampled = isChromaSubsampled
        self.profileByteCount = profileByteCount
    }

    /// Whether a pixel is made of inks: cyan, magenta, yellow and black.
    var hasInks: Bool { bands == 4 && format.reading.hasInks }

    /// Size after the picture is turned upright.
    package var size: PixelSize {
        orientation >= 5 ? PixelSize(width: storedSize.height, height: storedSize.width) : storedSize
    }

    /// What a render of one frame begins with.
    package var shape: FrameShape { FrameShape(size: size, hasAlpha: hasAlpha) }
}
