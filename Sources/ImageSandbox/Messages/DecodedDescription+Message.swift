import Imaging
import Memory
import Recipes

extension MessageCoder {
    /// Codes a description without delays and profile, which follow the pixels.
    mutating func description(_ value: DecodedDescription) -> DecodedDescription {
        var result = DecodedDescription(size: pixelSize(value.size), bands: size(value.bands), loop: size(value.loop))
        result.range = flag(value.range == .limited) ? .limited : .full
        result.isIncomplete = flag(value.isIncomplete)
        result.isRepaired = flag(value.isRepaired)
        result.jpegDecoding = element(value.jpegDecoding, of: Self.jpegDecodings)
        result.hasColorDetail = flag(value.hasColorDetail)
        let count = index(value.planes.count, below: 4)
        let empty = DecodedDescription.PlaneShape(size: value.size, region: Plane.Region(width: 0, height: 0))
        result.planes = (0..<count).map { plane($0 < value.planes.count ? value.planes[$0] : empty) }
        return result
    }

    private static let jpegDecodings: [JPEGDecoding?] =
        [nil, .fast] + JPEGDecoding.Reason.allCases.map { .fallback($0) }

    private mutating func plane(_ plane: DecodedDescription.PlaneShape) -> DecodedDescription.PlaneShape {
        DecodedDescription.PlaneShape(
            size: pixelSize(plane.size),
            region: Plane.Region(
                left: fraction(plane.region.left), top: fraction(plane.region.top), width: fraction(plane.region.width),
                height: fraction(plane.region.height)))
    }
}

extension DecodedImage {
    /// The pixels, followed by the delays of frames, if any.
    var pixelsAndDelays: SharedBytes {
        guard !delays.isEmpty else { return pixels }
        var all = ByteAccumulator(reservingCapacity: pixels.count + 4 * delays.count)
        all.append(pixels)
        all.append(delayBytes)
        return all.finish()
    }

    var delayBytes: [UInt8] { delays.flatMap { UInt32(clamping: $0).littleEndianBytes() } }

    /// Inverse of ``pixelsAndDelays``, with `count` delays.
    convenience init(_ description: DecodedDescription, pixels bytes: SharedBytes, delays count: Int) throws {
        guard count > 0 else {
            try self.init(description, pixels: bytes)
            return
        }
        let end = bytes.count - 4 * count
        guard end >= 0 else { throw ImagingError.cannotDecode(detail: "the delays of frames are missing") }
        var tail = MessageCoder(reading: SharedBytes(end..<bytes.count, of: bytes).array)
        var description = description
        description.delays = (0..<count).map { _ in tail.size(0) }
        try self.init(description, pixels: SharedBytes(0..<end, of: bytes), frames: count)
    }
}
