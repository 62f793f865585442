/// Everything that decides the pixels and bytes of a result, given the source.
///
/// The plan is the result cache's key beside the source's identity, so it is normal: wishes that lead to the same picture
/// make equal plans. The renderer takes the steps in the order of the properties.
package struct RenderPlan: Hashable, Sendable {
    /// What is decoded.
    package let decode: DecodePlan
    /// The size to which the whole upright picture is resampled.
    package let resizedSize: PixelSize
    /// What pixels are mixed by on the way to it.
    package let light: ResamplingLight
    /// What is cut out of the resampled picture.
    package let crop: Crop
    /// The larger canvas that the picture is laid on, nil for none.
    package let canvas: Canvas?
    /// Colour behind transparent parts and around the picture.
    ///
    /// Nil leaves them transparent, or says that there are none. Opaque where the format has no alpha.
    package let background: Color?
    /// The format of the result.
    package let format: ImageFormat
    /// Encoder quality, 1…100; 100 for formats without a choice of it.
    package let quality: Int

    /// A plan of these values.
    package init(
        decode: DecodePlan = DecodePlan(), resizedSize: PixelSize, light: ResamplingLight = .gamma, crop: Crop = .none,
        canvas: Canvas? = nil, background: Color? = nil, format: ImageFormat, quality: Int
    ) {
        self.decode = decode
        self.resizedSize = resizedSize
        self.light = light
        self.crop = crop
        self.canvas = canvas
        self.background = background
        self.format = format
        self.quality = quality
    }

    /// Size of the result, of one frame if animated.
    package var outputSize: PixelSize { canvas?.size ?? crop.size ?? resizedSize }

    /// Whether all frames are kept.
    package var isAnimated: Bool { decode.isAnimated }

    /// Pixels for one sample of chroma, as libvips writes them.
    var chromaStep: Int { quality >= format.writing?.fullChromaFrom ?? .max ? 1 : 2 }

    /// What is cut out of the resampled picture.
    package enum Crop: Hashable, Sendable {
        /// Nothing is cut off.
        case none
        /// The part of this size whose top left corner is at `x`, `y`.
        case rectangle(x: Int, y: Int, size: PixelSize)
        /// The most eye-catching part of this size, by the first frame if animated.
        case attention(size: PixelSize)
        /// The part of this size with the most information, by the first frame if animated.
        case entropy(size: PixelSize)

        /// Size of what is left, nil when nothing is cut off.
        package var size: PixelSize? {
            switch self {
            case .none: nil
            case .rectangle(_, _, let size), .attention(let size), .entropy(let size): size
            }
        }
    }

    /// A canvas larger than the picture on it.
    package struct Canvas: Hashable, Sendable {
        /// Size of the canvas, at least the picture's.
        package let size: PixelSize
        /// Distance of the picture's left edge from the canvas's.
        package let x: Int
        /// Distance of the picture's top edge from the canvas's.
        package let y: Int

        /// A canvas with the picture's top left corner at `x`, `y`.
        package init(size: PixelSize, x: Int, y: Int) {
            self.size = size
            self.x = x
            self.y = y
        }
    }
}
