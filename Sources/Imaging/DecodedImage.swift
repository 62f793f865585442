package import Coordination
package import Memory

/// The pixels of a picture, or of all frames of an animation: upright, 8 bits, sRGB or grey, with or without alpha.
///
/// This is the trust boundary: nothing here or after it has seen the source's bytes.
package final class DecodedImage: Sendable {
    /// How the components lie in the bytes.
    package enum Layout: Hashable, Sendable {
        /// Rows without gaps, bands interleaved, frames one after the other; alpha is the last band and not multiplied in.
        case interleaved(bands: Int)
        /// Luma, or luma, Cb and Cr by BT.601; a still without alpha.
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
    /// How often an animation plays, 0 for ever.
    package let loop: Int
    /// The components of all pixels.
    package let pixels: SharedBytes
    /// Whether parts were not in the file: they are grey, or as coarse as what came of them.
    package let isIncomplete: Bool
    /// What the colours of planes mean where that is not sRGB, to be applied when the picture has become small.
    let profile: ColorProfile?

    /// Takes over interleaved pixels, which must fill the picture exactly.
    package init(
        pixels: SharedBytes, size: PixelSize, bands: Int, frames: Int = 1, delays: [Int] = [], loop: Int = 0,
        isIncomplete: Bool = false
    ) {
        precondition(pixels.count == size.area * bands * frames, "the pixels do not fill the picture")
        self.pixels = pixels
        self.size = size
        layout = .interleaved(bands: bands)
        self.frames = frames
        self.delays = delays
        self.loop = loop
        self.isIncomplete = isIncomplete
        profile = nil
    }

    /// Takes over planes of a still.
    init(
        pixels: SharedBytes, planes: [Plane], range: PlaneRange, profile: ColorProfile?, isIncomplete: Bool = false
    ) {
        precondition([1, 3].contains(planes.count) && pixels.count == planes.byteCount, "the planes make no picture")
        self.pixels = pixels
        size = planes[0].size
        layout = .planar(planes, range)
        frames = 1
        delays = []
        loop = 0
        self.isIncomplete = isIncomplete
        self.profile = profile
    }

    /// What the pixels occupy, with what is kept beside them.
    package var byteCount: Int { pixels.count + (profile?.fileByteCount ?? 0) }

    /// Components of a pixel: 1 grey, 2 grey with alpha, 3 colour, 4 colour with alpha.
    package var bands: Int {
        switch layout {
        case .interleaved(let bands): bands
        case .planar(let planes, _): planes.count
        }
    }

    /// Whether parts may be transparent.
    package var hasAlpha: Bool { bands == 2 || bands == 4 }

    /// The components of one pixel of an interleaved picture.
    package func pixel(x: Int, y: Int, frame: Int = 0) -> [UInt8] {
        guard case .interleaved(let bands) = layout else { preconditionFailure("planes have no pixels") }
        precondition(0..<size.width ~= x && 0..<size.height ~= y && 0..<frames ~= frame, "no such pixel")
        let start = ((frame * size.height + y) * size.width + x) * bands
        return pixels.withBytes { bytes in
            (0..<bands).map { unsafe bytes.unsafeLoad(fromByteOffset: start + $0, as: UInt8.self) }
        }
    }

    /// The picture in interleaved pixels: itself, unless it consists of planes.
    ///
    /// - Throws: what `token` says.
    package func interleaved(token: WorkToken) throws -> DecodedImage {
        guard case .planar = layout else { return self }
        return try PlanarRendering.pixels(of: self, token: token)
    }
}
