import CPlanarShim
import Coordination
import Memory

/// The luma of an image, to compare an encoded file with the image before its encoding.
struct Luma {
    /// The range of the samples.
    let range: PlaneRange
    private let samples: SharedBytes
    private let plane: Plane

    /// The luma of a still, or of the first frame of an animation.
    ///
    /// - Parameter range: The range that is needed; nil for the image's own, full for pixels.
    /// - Throws: The error of `token`.
    init(of image: DecodedImage, in range: PlaneRange? = nil, token: WorkToken) throws {
        if case .planar(let planes, let own) = image.layout, own == range ?? own {
            (self.range, samples, plane) = (own, image.pixels, planes[0])
            return
        }
        let pixels = try image.storedPixels(token: token)
        let range = range ?? .full
        let planes = [Plane].stacked([image.size])
        let memory = PlaneMemory(count: planes.byteCount)
        var luma = unsafe CPlanarShimPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes)).planes.0
        unsafe pixels.pixels.withUnsafeBytes { bytes in
            unsafe CPlanarShim_luma(
                bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(pixels.bands),
                range == .limited ? 1 : 0, &luma)
        }
        (self.range, samples, plane) = (range, memory.finish(), planes[0])
    }

    /// The similarity in ten-thousandths, 10000 if both are equal; docs/quality.md defines the scale.
    ///
    /// Both have the same size and range.
    func similarity(to other: Luma) -> Double {
        precondition(plane.size == other.plane.size && range == other.range, "lumas of different images")
        return unsafe samples.withUnsafeBytes { bytes in
            unsafe other.samples.withUnsafeBytes { otherBytes in
                var one = unsafe CPlanarShimPlanes([plane], in: bytes).planes.0
                var two = unsafe CPlanarShimPlanes([other.plane], in: otherBytes).planes.0
                return unsafe 10_000 * (1 - CPlanarShim_dissimilarity(&one, &two))
            }
        }
    }
}
