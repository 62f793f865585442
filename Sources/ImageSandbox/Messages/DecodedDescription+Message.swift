import Imaging
import Memory

// The fixed-size part of a description travels in the message. Delays and the profile follow the pixels instead.

extension MessageWriter {
    mutating func put(_ description: DecodedDescription) {
        for side in [description.size.width, description.size.height, description.bands, description.loop] {
            put(UInt32(clamping: side))
        }
        put(description.range == .limited)
        put(description.isIncomplete)
        put(description.jpegDecoding)
        put(description.hasColorDetail)
        put(UInt8(description.planes.count))
        for plane in description.planes {
            put(UInt32(plane.size.width))
            put(UInt32(plane.size.height))
            for number in [plane.left, plane.top, plane.width, plane.height] { put(number) }
        }
    }
}

extension JPEGDecoding {
    fileprivate static let all = [JPEGDecoding.fast] + Reason.allCases.map { .fallback($0) }
}

extension MessageWriter {
    /// Writes the index among all cases, counted from 1; 0 for none.
    fileprivate mutating func put(_ decoding: JPEGDecoding?) {
        put(UInt8(decoding.flatMap { JPEGDecoding.all.firstIndex(of: $0) }.map { $0 + 1 } ?? 0))
    }
}

extension MessageReader {
    mutating func description() -> DecodedDescription? {
        guard let width = size(), let height = size(), let bands = size(), let loop = size(), let isLimited = flag(),
            let isIncomplete = flag(), let decoding = number(UInt8.self), decoding <= JPEGDecoding.all.count,
            let hasColorDetail = flag(), let planeCount = number(UInt8.self), planeCount <= 3
        else { return nil }
        let planes = (0..<planeCount).compactMap { _ in plane() }
        guard planes.count == planeCount else { return nil }
        return DecodedDescription(
            size: PixelSize(width: width, height: height), bands: bands, planes: planes,
            range: isLimited ? .limited : .full, loop: loop, isIncomplete: isIncomplete,
            jpegDecoding: decoding > 0 ? JPEGDecoding.all[Int(decoding) - 1] : nil,
            hasColorDetail: hasColorDetail)
    }

    private mutating func plane() -> DecodedDescription.Part? {
        guard let width = size(), let height = size(), let left = fraction(), let top = fraction(),
            let across = fraction(), let down = fraction()
        else { return nil }
        return DecodedDescription.Part(
            size: PixelSize(width: width, height: height), left: left, top: top, width: across, height: down)
    }
}

extension DecodedImage {
    /// The pixels, followed by the delays of frames, if any.
    var pixelsAndDelays: SharedBytes {
        guard !delays.isEmpty else { return pixels }
        var writer = MessageWriter(count: 4 * delays.count)
        for delay in delays { writer.put(UInt32(clamping: delay)) }
        var all = ByteAccumulator(reservingCapacity: pixels.count + 4 * delays.count)
        all.append(pixels)
        all.append(writer.finish())
        return all.finish()
    }

    /// Creates an image from a description and from ``pixelsAndDelays`` with `count` delays.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` if the bytes contradict the description.
    convenience init(_ description: DecodedDescription, pixels bytes: SharedBytes, delays count: Int) throws {
        guard count > 0 else {
            try self.init(description, pixels: bytes)
            return
        }
        let end = bytes.count - 4 * count
        guard end >= 0 else { throw ImagingError.cannotDecode(detail: "the delays of frames are missing") }
        var tail = MessageReader(SharedBytes(end..<bytes.count, of: bytes).array)
        var description = description
        description.delays = (0..<count).compactMap { _ in tail.size() }
        try self.init(description, pixels: SharedBytes(0..<end, of: bytes), frames: count)
    }
}
