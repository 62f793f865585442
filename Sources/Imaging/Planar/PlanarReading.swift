import CPlanarShim
import Memory

enum PlanarReading {
    case decoded(DecodedImage)
    /// The other lane must decode the file; `lacksPixels` is true if the file is already known to lack pixels.
    case judged(lacksPixels: Bool)
}

extension PlaneMemory {
    /// Allocates memory for the decoder's planes: from `room` if they are stored upright, otherwise temporary.
    static func stored(_ planes: [Plane], turned turn: QuarterTurn, room: Maker) throws -> PlaneMemory {
        turn == .none ? try room(planes.byteCount) : try PlaneMemory(count: planes.byteCount)
    }
}

extension DecodedImage {
    /// Creates an image of decoded planes; if they are not stored upright, they are turned into memory from `room`.
    convenience init(
        _ planes: [Plane], in memory: consuming PlaneMemory, range: PlaneRange, profile: ColorProfile?,
        turned turn: QuarterTurn, into room: PlaneMemory.Maker, isIncomplete: Bool,
        jpegDecoding: JPEGDecoding? = nil, hasColorDetail: Bool = false
    ) throws {
        if turn == .none {
            self.init(
                pixels: memory.finish(), planes: planes, range: range, profile: profile, isIncomplete: isIncomplete,
                jpegDecoding: jpegDecoding, hasColorDetail: hasColorDetail)
            return
        }
        let upright = [Plane].stacked(
            planes.map { (turn.turned($0.size), turn.turned($0.region, in: $0.size)) })
        let result = try room(upright.byteCount)
        // The padding of rows is sent, too.
        unsafe result.bytes.initializeMemory(as: UInt8.self, repeating: 0)
        var from = unsafe CPlanarShimPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes)).planes
        var to = unsafe CPlanarShimPlanes(upright, in: UnsafeRawBufferPointer(result.bytes)).planes
        unsafe CPlanarShim_turn(&from.0, &to.0, Int32(turn.exif))
        if planes.count == 3 {
            unsafe CPlanarShim_turn(&from.1, &to.1, Int32(turn.exif))
            unsafe CPlanarShim_turn(&from.2, &to.2, Int32(turn.exif))
        }
        self.init(
            pixels: result.finish(), planes: upright, range: range, profile: profile, isIncomplete: isIncomplete,
            jpegDecoding: jpegDecoding, hasColorDetail: hasColorDetail)
    }
}
