import Recipes

/// An animated PNG (third edition, section 4.9).
struct PNGAnimation {
    struct Frame {
        enum Disposal: Int {
            case none, background, previous
        }

        let size: PixelSize
        let left, top: Int
        let delay: Int
        let disposal: Disposal
        let isBlended: Bool
        var data: [Range<Int>] = []
        var hasData = false
    }

    private(set) var count = 0
    private(set) var loop = 0
    private(set) var hasVisibleBackground = false
    private(set) var frames: [Frame] = []

    private let size: PixelSize
    private let frameCount: Int
    private var declared = 0
    private var sequence = 0
    private var current: Frame?
    private var hasStill = false
    private var isStill = false

    /// Returns nil for a still, and for a damaged animation, which browsers show as a still.
    ///
    /// - Parameter frameCount: The number of frames to keep in ``frames``.
    init?(_ bytes: RawSpan, size: PixelSize, frameCount: Int = 0) {
        self.size = size
        self.frameCount = frameCount
        var chunks = PNGChunks(from: 33)
        while let chunk = chunks.next(in: bytes), !bytes.hasText("IEND", at: chunk.type) {
            guard (try? read(bytes, chunk: chunk)) == true else { return nil }
        }
        guard finishFrame(), count > 1 else { return nil }
    }

    private mutating func read(_ bytes: RawSpan, chunk: PNGChunks.Chunk) throws(ImagingError) -> Bool {
        let data = chunk.data
        let isWhole = data.upperBound <= bytes.byteCount - 4
        if bytes.hasText("IDAT", at: chunk.type) {
            guard declared > 0 else { return false }
            hasStill = true
            isStill = current != nil
            if isStill { addData(data) }
        } else if bytes.hasText("acTL", at: chunk.type) {
            guard !hasStill, declared == 0, data.count == 8, isWhole else { return false }
            declared = try bytes.bigEndian32(at: data.lowerBound)
            loop = try bytes.bigEndian32(at: data.lowerBound + 4)
            return declared > 0 && loop <= Int(Int32.max)
        } else if bytes.hasText("fcTL", at: chunk.type) {
            // The first frame control may precede the number of frames; without that number, image data end the walk.
            guard data.count == 26, isWhole, try isNext(bytes, at: data.lowerBound), finishFrame()
            else { return false }
            return try begin(bytes, at: data.lowerBound + 4)
        } else if bytes.hasText("fdAT", at: chunk.type) {
            guard hasStill, current != nil, !isStill, data.count >= 4,
                try isNext(bytes, at: data.lowerBound)
            else { return false }
            addData(data.lowerBound + 4..<data.upperBound)
        }
        return true
    }

    private mutating func isNext(_ bytes: RawSpan, at offset: Int) throws(ImagingError) -> Bool {
        defer { sequence += 1 }
        return try bytes.bigEndian32(at: offset) == sequence
    }

    private mutating func addData(_ data: Range<Int>) {
        current?.hasData = true
        if count < frameCount { current?.data.append(data) }
    }

    private mutating func begin(_ bytes: RawSpan, at start: Int) throws(ImagingError) -> Bool {
        let size = try PixelSize(width: bytes.bigEndian32(at: start), height: bytes.bigEndian32(at: start + 4))
        let (left, top) = try (bytes.bigEndian32(at: start + 8), bytes.bigEndian32(at: start + 12))
        let delay = try (numerator: bytes.bigEndian16(at: start + 16), denominator: bytes.bigEndian16(at: start + 18))
        guard size.width > 0, size.height > 0, left + size.width <= self.size.width,
            top + size.height <= self.size.height, hasStill || size == self.size,
            let disposal = try Frame.Disposal(rawValue: bytes.byte(at: start + 20)),
            case let blending = try bytes.byte(at: start + 21), blending <= 1
        else { return false }
        if disposal == .background || count == 0 && (size != self.size || disposal == .previous) {
            hasVisibleBackground = true
        }
        isStill = false
        current = Frame(
            size: size, left: left, top: top,
            delay: delay.numerator * 1_000 / (delay.denominator == 0 ? 100 : delay.denominator),
            disposal: count == 0 && disposal == .previous ? .background : disposal, isBlended: blending == 1)
        return true
    }

    private mutating func finishFrame() -> Bool {
        guard let frame = current else { return true }
        current = nil
        guard frame.hasData else { return false }
        guard count < declared else { return true }
        if count < frameCount { frames.append(frame) }
        count += 1
        return true
    }
}
