package import Memory
package import Recipes

/// The pixels of a still or of all frames of an animation.
///
/// They are upright, with 8 bits, in gray, sRGB, or the colors of ``profile``. This is the trust boundary: no code that
/// uses a decoded image reads the source's bytes.
package final class DecodedImage: Sendable {
    package enum Layout: Hashable, Sendable {
        /// Packed rows of interleaved bands, frame after frame; alpha is the last band and not premultiplied.
        case interleaved(bands: Int)
        /// BT.601 planes of a still without alpha: luma, or luma, Cb and Cr.
        case planar([Plane], PlaneRange)
    }

    package let description: DecodedDescription
    package let layout: Layout
    package let frames: Int
    package let pixels: SharedBytes
    /// The box inside the border of a vector image that was drawn again for a trim, in pixels of its natural size.
    let box: ImageRegion?
    package let gainMap: DecodedGainMap?
    /// Coarser levels decoded in the same pass, in the plan's order and in one block of memory.
    package let coarser: [DecodedImage]

    fileprivate init(
        _ description: DecodedDescription, layout: Layout, frames: Int, pixels: SharedBytes, box: ImageRegion? = nil,
        gainMap: DecodedGainMap? = nil, coarser: [DecodedImage] = []
    ) {
        self.description = description
        self.layout = layout
        self.frames = frames
        self.pixels = pixels
        self.box = box
        self.gainMap = gainMap
        self.coarser = coarser
    }

    /// Creates an image from pixels that fill it exactly.
    ///
    /// - Parameter box: The region inside a border, if the image was drawn for it.
    package convenience init(
        pixels: SharedBytes, size: PixelSize, bands: Int, frames: Int = 1, delays: [Int] = [], loop: Int = 0,
        isIncomplete: Bool = false, isRepaired: Bool = false, profile: ColorProfile? = nil, box: ImageRegion? = nil
    ) {
        precondition(pixels.count == size.area * bands * frames, "the pixels do not fill the image")
        var description = DecodedDescription(
            size: size, bands: bands, delays: delays, loop: loop, isIncomplete: isIncomplete, profile: profile)
        description.isRepaired = isRepaired
        self.init(description, layout: .interleaved(bands: bands), frames: frames, pixels: pixels, box: box)
    }

    convenience init(
        pixels: SharedBytes, planes: [Plane], range: PlaneRange, profile: ColorProfile?, isIncomplete: Bool = false,
        jpegDecoding: JPEGDecoding? = nil, hasColorDetail: Bool = false
    ) {
        precondition(
            [1, 3].contains(planes.count) && pixels.count == planes.byteCount, "the planes do not make an image")
        let shapes = planes.map { DecodedDescription.PlaneShape(size: $0.size, region: $0.region) }
        self.init(
            DecodedDescription(
                size: planes[0].size, bands: planes.count, planes: shapes, range: range, isIncomplete: isIncomplete,
                profile: profile, jpegDecoding: jpegDecoding, hasColorDetail: hasColorDetail),
            layout: .planar(planes, range), frames: 1, pixels: pixels)
    }

    convenience init(_ image: DecodedImage, with gainMap: DecodedGainMap) {
        self.init(
            image.description, layout: image.layout, frames: image.frames, pixels: image.pixels, box: image.box,
            gainMap: gainMap)
    }

    package func with(coarser: [DecodedImage]) -> DecodedImage {
        DecodedImage(
            description, layout: layout, frames: frames, pixels: pixels, box: box, gainMap: gainMap, coarser: coarser)
    }

    func with(_ change: (inout DecodedDescription) -> Void) -> DecodedImage {
        var description = description
        change(&description)
        return DecodedImage(description, layout: layout, frames: frames, pixels: pixels, box: box, gainMap: gainMap)
    }

    package var size: PixelSize { description.size }
    package var bands: Int { description.bands }
    package var hasAlpha: Bool { bands == 2 || bands == 4 }
    package var delays: [Int] { description.delays }
    package var loop: Int { description.loop }
    package var isIncomplete: Bool { description.isIncomplete }
    package var isRepaired: Bool { description.isRepaired }
    var profile: ColorProfile? { description.profile }
    package var jpegDecoding: JPEGDecoding? { description.jpegDecoding }
    var hasColorDetail: Bool { description.hasColorDetail }

    /// Bytes in memory; ignores the block's rounding of less than a quarter, most of which is never touched.
    package var byteCount: Int {
        pixels.count + (profile?.fileByteCount ?? 0) + delays.count * MemoryLayout<Int>.stride
            + (gainMap?.image.byteCount ?? 0)
    }

    package func pixel(x: Int, y: Int, frame: Int = 0) -> [UInt8] {
        guard case .interleaved(let bands) = layout else { preconditionFailure("planes are not interleaved") }
        precondition(0..<size.width ~= x && 0..<size.height ~= y && 0..<frames ~= frame, "no such pixel")
        let start = ((frame * size.height + y) * size.width + x) * bands
        return pixels.withBytes { bytes in
            (0..<bands).map { unsafe bytes.unsafeLoad(fromByteOffset: start + $0, as: UInt8.self) }
        }
    }
}

package struct DecodedGainMap: Sendable {
    let image: DecodedImage
    let size: PixelSize
    let metadata: GainMapMetadata
}

struct DecodedPixels {
    let pixels: SharedBytes
    /// The stored size reduced by ``level``.
    let size: PixelSize
    var level = 1
    let bands: Int
    var profile: SharedBytes?
    /// Whether components have 16 bits in native byte order instead of 8.
    var has16Bits = false
    var delays: [Int] = []
    var loop = 0
    var isIncomplete = false
    /// Whether the pixels are upright, sRGB or gray, and in the final memory.
    var isFinished = false
}
