import CPlanar
import Coordination
import Memory
import Recipes

/// Planes for a comparison: luma, or luma and full-size chroma.
struct ComparedPlanes {
    let range: PlaneRange
    private let samples: SharedBytes
    private let planes: [Plane]

    private init(range: PlaneRange, samples: SharedBytes, planes: [Plane]) {
        self.range = range
        self.samples = samples
        self.planes = planes
    }

    /// Creates the luma of a still or of an animation's first frame.
    ///
    /// - Parameter range: The range; nil uses the image's, which is full for pixels.
    init(lumaOf image: DecodedImage, in range: PlaneRange? = nil, token: WorkToken) throws {
        if case .planar(let planes, let sourceRange) = image.layout, sourceRange == range ?? sourceRange {
            self.init(range: sourceRange, samples: image.pixels, planes: Array(planes.prefix(1)))
            return
        }
        try self.init(pixelsOf: image, planes: 1, range: range ?? .full, token: token)
    }

    init(colorsOf image: DecodedImage, token: WorkToken) throws {
        try self.init(pixelsOf: image, planes: image.bands < 3 ? 1 : 3, range: .full, token: token)
    }

    private init(pixelsOf image: DecodedImage, planes count: Int, range: PlaneRange, token: WorkToken) throws {
        let pixels = try image.interleaved(token: token)
        let planes = [Plane].stacked(Array(repeating: image.size, count: count))
        let memory = try PlaneMemory(count: planes.byteCount)
        for (kind, plane) in planes.enumerated() {
            var target = unsafe CPlanarPlanes([plane], in: UnsafeRawBufferPointer(memory.bytes)).planes.0
            unsafe pixels.pixels.withUnsafeBytes { bytes in
                unsafe CPlanar_component(
                    bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(pixels.bands), Int32(kind),
                    range == .limited ? 1 : 0, &target)
            }
        }
        self.init(range: range, samples: memory.finish(), planes: planes)
    }

    var hasColorDetail: Bool {
        unsafe samples.withUnsafeBytes { bytes in
            unsafe ColorDetail.isFound(in: CPlanarPlanes(planes, in: bytes))
        }
    }

    /// Returns the similarity in ten-thousandths; equal planes have 10000, and docs/quality.md defines the scale.
    ///
    /// Both must have the same number, size and range of planes.
    func similarity(to other: ComparedPlanes) -> Double {
        precondition(
            planes.map(\.size) == other.planes.map(\.size) && range == other.range, "planes of different images")
        return unsafe samples.withUnsafeBytes { bytes in
            unsafe other.samples.withUnsafeBytes { otherBytes in
                zip(planes, other.planes).map { plane, otherPlane in
                    var one = unsafe CPlanarPlanes([plane], in: bytes).planes.0
                    var two = unsafe CPlanarPlanes([otherPlane], in: otherBytes).planes.0
                    return unsafe 10_000 * (1 - CPlanar_dissimilarity(&one, &two))
                }.min() ?? 10_000
            }
        }
    }
}
