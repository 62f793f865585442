import CPlanarShim
import Memory

extension DecodedImage {
    /// A picture of planes that were stored as EXIF's orientation says: turned upright.
    convenience init(
        _ planes: [Plane], in memory: consuming PlaneMemory, range: PlaneRange, profile: SharedBytes?,
        turnedFrom orientation: Int
    ) {
        if orientation == 1 {
            self.init(pixels: memory.finish(), planes: planes, range: range, profile: profile)
            return
        }
        let upright = [Plane].stacked(
            planes.map { plane in
                let size = plane.size
                let turned = orientation >= 5 ? PixelSize(width: size.height, height: size.width) : size
                return (turned, plane.region.upright(from: orientation, in: size))
            })
        let result = PlaneMemory(count: upright.byteCount)
        var from = unsafe CPlanarShimPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes)).planes
        var to = unsafe CPlanarShimPlanes(upright, in: UnsafeRawBufferPointer(result.bytes)).planes
        unsafe CPlanarShim_turn(&from.0, &to.0, Int32(orientation))
        if planes.count == 3 {
            unsafe CPlanarShim_turn(&from.1, &to.1, Int32(orientation))
            unsafe CPlanarShim_turn(&from.2, &to.2, Int32(orientation))
        }
        self.init(pixels: result.finish(), planes: upright, range: range, profile: profile)
    }
}
