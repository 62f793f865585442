package import Memory

/// The pixels of a still, or of all frames of an animation: upright, 8 bits, with or without alpha;
/// gray, sRGB, or the colors that ``profile`` tells.
///
/// This is the trust boundary: no code that uses a decoded image reads the source's bytes.
package final class DecodedImage: Sendable {
    /// How the components lie in the bytes.
    package enum Layout: Hashable, Sendable {
        /// Rows without gaps, bands interleaved, frames one after the other; alpha is the last band and not multiplied
        /// in.
        case interleaved(bands: Int)
        /// A still without alpha as luma, or as luma, Cb and Cr by BT.601.
        case planar([Plane], PlaneRange)
    }

    /// Size of one frame, upright and as reduced while decoding.
    package let size: PixelSize
    /// How the components lie in ``pixels``.
    package let layout: Layout
    /// Number of frames, 1 for stills.
    package let frames: Int
    /// How long each frame is shown, in milliseconds; empty for stills.
    package let delays: [Int]
    /// How often an animation plays; 0 for endless.
    package let loop: Int
    /// The components of all pixels.
    package let pixels: SharedBytes
    /// Whether the file lacked pixels: these are gray, or coarse if the file had coarse data for them.
    package let isIncomplete: Bool
    /// The color profile of planes, or of pixels in color; nil for sRGB.
    ///
    /// It is applied after the image was reduced.
    let profile: ColorProfile?
    /// Which decoder made the planes of a reduced JPEG; nil for other images.
    package let jpegDecoding: JPEGDecoding?
    /// Whether planes have ``ColorDetail``; false for pixels.
    let hasColorDetail: Bool
    /// The part inside the border of an image of shapes that was drawn anew for a trim, in pixels of the natural size;
    /// nil for other images.
    let box: ImagePart?
    /// The gain map; nil if there is none, or if it is not kept.
    package let gainMap: DecodedGainMap?

    /// Takes over interleaved pixels, which must fill the image exactly.
    ///
    /// - Parameter box: The part inside a border, if the image was drawn for it.
    package init(
        pixels: SharedBytes, size: PixelSize, bands: Int, frames: Int = 1, delays: [Int] = [], loop: Int = 0,
        isIncomplete: Bool = false, profile: ColorProfile? = nil, box: ImagePart? = nil
    ) {
        precondition(pixels.count == size.area * bands * frames, "the pixels do not fill the image")
        self.pixels = pixels
        self.size = size
        layout = .interleaved(bands: bands)
        self.frames = frames
        self.delays = delays
        self.loop = loop
        self.isIncomplete = isIncomplete
        self.box = box
        self.profile = profile
        jpegDecoding = nil
        hasColorDetail = false
        gainMap = nil
    }

    /// Takes over planes of a still.
    init(
        pixels: SharedBytes, planes: [Plane], range: PlaneRange, profile: ColorProfile?, isIncomplete: Bool = false,
        jpegDecoding: JPEGDecoding? = nil, hasColorDetail: Bool = false
    ) {
        precondition(
            [1, 3].contains(planes.count) && pixels.count == planes.byteCount, "the planes do not make an image")
        self.pixels = pixels
        size = planes[0].size
        layout = .planar(planes, range)
        frames = 1
        delays = []
        loop = 0
        self.isIncomplete = isIncomplete
        self.profile = profile
        self.jpegDecoding = jpegDecoding
        self.hasColorDetail = hasColorDetail
        box = nil
        gainMap = nil
    }

    /// The same image with a gain map.
    init(_ image: DecodedImage, with gainMap: DecodedGainMap) {
        (pixels, size, layout, frames) = (image.pixels, image.size, image.layout, image.frames)
        (delays, loop, isIncomplete, profile) = (image.delays, image.loop, image.isIncomplete, image.profile)
        (jpegDecoding, hasColorDetail, box) = (image.jpegDecoding, image.hasColorDetail, image.box)
        self.gainMap = gainMap
    }

    /// The same samples, whose meaning is no color.
    var withoutProfile: DecodedImage {
        switch layout {
        case _ where profile == nil: self
        case .interleaved(let bands): DecodedImage(pixels: pixels, size: size, bands: bands, isIncomplete: isIncomplete)
        case .planar(let planes, let range):
            DecodedImage(
                pixels: pixels, planes: planes, range: range, profile: nil, isIncomplete: isIncomplete,
                jpegDecoding: jpegDecoding, hasColorDetail: hasColorDetail)
        }
    }

    /// Bytes of the pixels, the profile, the times of the frames and the gain map: of a block's rest, less than a
    /// quarter, most is never touched.
    package var byteCount: Int {
        pixels.count + (profile?.fileByteCount ?? 0) + delays.count * MemoryLayout<Int>.stride
            + (gainMap?.image.byteCount ?? 0)
    }

    /// Components of a pixel: 1 gray, 2 gray with alpha, 3 color, 4 color with alpha.
    package var bands: Int {
        switch layout {
        case .interleaved(let bands): bands
        case .planar(let planes, _): planes.count
        }
    }

    /// Whether the image may have transparent parts.
    package var hasAlpha: Bool { bands == 2 || bands == 4 }

    /// The components of one pixel of an interleaved image.
    package func pixel(x: Int, y: Int, frame: Int = 0) -> [UInt8] {
        guard case .interleaved(let bands) = layout else { preconditionFailure("planes are not interleaved") }
        precondition(0..<size.width ~= x && 0..<size.height ~= y && 0..<frames ~= frame, "no such pixel")
        let start = ((frame * size.height + y) * size.width + x) * bands
        return pixels.withBytes { bytes in
            (0..<bands).map { unsafe bytes.unsafeLoad(fromByteOffset: start + $0, as: UInt8.self) }
        }
    }
}

/// The pixels of a gain map, and their meaning.
package struct DecodedGainMap: Sendable {
    /// The map, gray or in three colors.
    let image: DecodedImage
    /// Size of the map in its file.
    let size: PixelSize
    let metadata: GainMapMetadata
}

/// The pixels of a still or of frames as a library or our own code has read them: as stored, colors by the file's
/// profile.
struct LoadedPixels {
    /// Rows without gaps, bands interleaved, frames one after the other.
    let pixels: SharedBytes
    /// Size in pixels: the header's stored size, reduced by ``level``.
    let size: PixelSize
    /// The part of a plan's level by which the pixels are reduced already.
    var level = 1
    /// 1 gray, 2 gray with alpha, 3 color, 4 color with alpha.
    let bands: Int
    /// The ICC profile, if there is one that is not sRGB.
    var profile: SharedBytes?
    /// Whether components have 16 bits, in words of this machine, and not 8.
    var isWide = false
    /// Milliseconds of each frame; empty for stills.
    var delays: [Int] = []
    /// How often frames play; 0 for endless.
    var loop = 0
    /// Whether the file lacked pixels.
    var isIncomplete = false
    /// Whether nothing is left to be done: upright, sRGB or gray, in the memory for the decoded image.
    var isFinished = false
}
