package import Memory

/// The pixels of a still, or of all frames of an animation: upright, 8 bits, with or without alpha, in gray, sRGB, or
/// the colors of ``profile``.
///
/// This is the trust boundary: no code that uses a decoded image reads the source's bytes.
package final class DecodedImage: Sendable {
    package enum Layout: Hashable, Sendable {
        /// Packed rows of interleaved bands, frame after frame; alpha is the last band and not premultiplied.
        case interleaved(bands: Int)
        /// A still without alpha as BT.601 planes: luma, or luma, Cb and Cr.
        case planar([Plane], PlaneRange)
    }

    /// Size of one frame, upright and as reduced while decoding.
    package let size: PixelSize
    package let layout: Layout
    /// Number of frames, 1 for stills.
    package let frames: Int
    /// Milliseconds of each frame; empty for stills.
    package let delays: [Int]
    /// How often an animation plays; 0 for endless.
    package let loop: Int
    package let pixels: SharedBytes
    /// Whether the file lacked pixels: these are gray, or coarse if the file had coarse data for them.
    package let isIncomplete: Bool
    /// The color profile of planes, or of color pixels; nil for sRGB.
    ///
    /// It is applied after the image was reduced.
    let profile: ColorProfile?
    /// The decoder of the planes of a reduced JPEG; nil for other images.
    package let jpegDecoding: JPEGDecoding?
    /// Whether planes have ``ColorDetail``; false for pixels.
    let hasColorDetail: Bool
    /// The part inside the border of a vector drawing that was drawn again for a trim, in pixels of its natural size;
    /// otherwise nil.
    let box: ImagePart?
    /// The gain map; nil if there is none, or if it is dropped.
    package let gainMap: DecodedGainMap?

    /// Creates an image of interleaved pixels, which must fill it exactly.
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

    init(_ image: DecodedImage, with gainMap: DecodedGainMap) {
        (pixels, size, layout, frames) = (image.pixels, image.size, image.layout, image.frames)
        (delays, loop, isIncomplete, profile) = (image.delays, image.loop, image.isIncomplete, image.profile)
        (jpegDecoding, hasColorDetail, box) = (image.jpegDecoding, image.hasColorDetail, image.box)
        self.gainMap = gainMap
    }

    /// The same samples, for images whose samples are not colors.
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

    /// Memory in bytes: pixels, profile, delays and gain map.
    ///
    /// Ignores a block's rounding, less than a quarter, because most of it is never touched.
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

    package var hasAlpha: Bool { bands == 2 || bands == 4 }

    /// Returns the components of one pixel of an interleaved image.
    package func pixel(x: Int, y: Int, frame: Int = 0) -> [UInt8] {
        guard case .interleaved(let bands) = layout else { preconditionFailure("planes are not interleaved") }
        precondition(0..<size.width ~= x && 0..<size.height ~= y && 0..<frames ~= frame, "no such pixel")
        let start = ((frame * size.height + y) * size.width + x) * bands
        return pixels.withBytes { bytes in
            (0..<bands).map { unsafe bytes.unsafeLoad(fromByteOffset: start + $0, as: UInt8.self) }
        }
    }
}

/// The decoded pixels of a gain map, and its metadata.
package struct DecodedGainMap: Sendable {
    /// The map, gray or in three colors.
    let image: DecodedImage
    /// Size of the map in its file.
    let size: PixelSize
    let metadata: GainMapMetadata
}

/// The pixels of a still or of frames as decoded: as stored, in the colors of the file's profile.
struct LoadedPixels {
    /// Packed rows of interleaved bands, frame after frame.
    let pixels: SharedBytes
    /// Size in pixels: the header's stored size, reduced by ``level``.
    let size: PixelSize
    /// The part of the plan's level by which the pixels are already reduced.
    var level = 1
    /// 1 gray, 2 gray with alpha, 3 color, 4 color with alpha.
    let bands: Int
    /// The ICC profile, unless it is sRGB.
    var profile: SharedBytes?
    /// Whether components have 16 bits in native byte order, instead of 8.
    var isWide = false
    /// Milliseconds of each frame; empty for stills.
    var delays: [Int] = []
    /// How often frames play; 0 for endless.
    var loop = 0
    /// Whether the file lacked pixels.
    var isIncomplete = false
    /// Whether the pixels are final: upright, sRGB or gray, in the memory for the decoded image.
    var isFinished = false
}
