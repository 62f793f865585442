import CPlanar
import Memory
import Recipes

enum PlaneDecodeResult {
    case decoded(DecodedImage)
    /// The other lane must decode the file; `lacksPixels` if it is already known that pixels are missing.
    case unsupported(lacksPixels: Bool)
}

extension PlaneMemory {
    static func stored(_ planes: [Plane], turned turn: QuarterTurn, allocate: Allocator) throws -> PlaneMemory {
        turn == .none ? try allocate(planes.byteCount) : try PlaneMemory(count: planes.byteCount)
    }

    /// Turns the planes upright, into memory from `allocate`, unless they are upright.
    consuming func upright(
        _ planes: [Plane], turned turn: QuarterTurn, allocate: Allocator
    ) throws -> (pixels: SharedBytes, planes: [Plane]) {
        if turn == .none { return (finish(), planes) }
        let upright = [Plane].stacked(planes.map { (turn.turned($0.size), turn.turned($0.region, in: $0.size)) })
        let result = try allocate(upright.byteCount)
        // Row padding is also sent between processes.
        unsafe result.bytes.initializeMemory(as: UInt8.self, repeating: 0)
        for (plane, target) in zip(planes, upright) {
            unsafe CPlanarPlanes([plane], in: UnsafeRawBufferPointer(bytes))
                .copy(to: CPlanarPlanes([target], in: UnsafeRawBufferPointer(result.bytes)), turned: turn)
        }
        return (result.finish(), upright)
    }
}
