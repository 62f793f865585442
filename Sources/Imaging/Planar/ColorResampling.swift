import CPlanarShim
import Recipes

/// Resamples three planes together in linear light.
///
/// Chroma is a difference of gamma-encoded values, so the planes are converted to pixels row by row, averaged, and
/// converted back.
struct ColorResampling {
    let resampling: PlaneResampling
    private let planes: [Plane]
    private let range: PlaneRange
    private let parts: [(x: Int, y: Int, size: PixelSize)]
    /// The center of the first luma sample relative to chroma samples, and the distance of luma samples.
    private let place: (left: Double, top: Double, across: Double, down: Double)
    private let plan: PlanarTarget

    /// Nil if the planes of `image` are resampled separately.
    init?(_ image: DecodedImage, to target: PlanarTarget) {
        guard image.hasColorDetail, target.geometry.light == .linear,
            case .planar(let planes, let range) = image.layout,
            planes.count == 3, planes[1].size == planes[2].size, planes[1].region == planes[2].region
        else { return nil }
        let luma = target.part(of: planes[0].region)
        let chroma = target.part(of: planes[1].region)
        // Samples around the part are not mixed in.
        let parts = [0, 1].map { index in
            target.geometry.part == nil
                ? (x: 0, y: 0, size: planes[index].size)
                : (index == 0 ? luma : chroma).samples(in: planes[index].size)
        }
        let size = target.size(ofPlane: 0)
        var region = target.region(ofPlane: 0, in: luma)
        region.left -= Double(parts[0].x)
        region.top -= Double(parts[0].y)
        guard region.width > Double(size.width) || region.height > Double(size.height),
            parts[1].size.width <= parts[0].size.width, parts[1].size.height <= parts[0].size.height
        else { return nil }
        resampling = PlaneResampling(
            source: parts[0].size, region: region, target: size, mixing: .lightOfColors, kernel: .lanczos)
        let across = chroma.width / luma.width
        let down = chroma.height / luma.height
        place = (
            left: chroma.left - Double(parts[1].x) + (Double(parts[0].x) + 0.5 - luma.left) * across - 0.5,
            top: chroma.top - Double(parts[1].y) + (Double(parts[0].y) + 0.5 - luma.top) * down - 0.5, across: across,
            down: down
        )
        self.planes = planes
        self.range = range
        self.parts = parts
        plan = target
    }

    @unsafe
    func source(in bytes: UnsafeRawBufferPointer) -> CPlanarShimColors {
        let all = unsafe CPlanarShimPlanes(planes, in: bytes).planes
        return unsafe CPlanarShimColors(
            planes: (cut(all.0, to: parts[0]), cut(all.1, to: parts[1]), cut(all.2, to: parts[1])), left: place.left,
            top: place.top, across: place.across, down: place.down, is_limited: range == .limited ? 1 : 0)
    }

    @unsafe
    func target(_ planes: CPlanarShimPlanes) -> CPlanarShimColorTarget {
        let before = plan.pixelsBefore(plane: 1)
        return unsafe CPlanarShimColorTarget(
            planes: (planes.planes.0, planes.planes.1, planes.planes.2), step: Int32(plan.chromaStep),
            columns_before: Int32(before.across), rows_before: Int32(before.down),
            is_limited: plan.range == .limited ? 1 : 0)
    }

    @unsafe
    private func cut(_ plane: CPlanarShimPlane, to part: (x: Int, y: Int, size: PixelSize)) -> CPlanarShimPlane {
        unsafe CPlanarShimPlane(
            samples: plane.samples + (part.y * plane.stride + part.x), stride: plane.stride,
            width: Int32(part.size.width), height: Int32(part.size.height))
    }
}

/// Fine detail in strong colors, such as colored text.
///
/// If only luma is averaged in linear light, such detail gets wrong colors, so the planes must be resampled together
/// (see ``ColorResampling``). That takes longer and makes no visible difference in photographs.
enum ColorDetail {
    /// The minimum share of chroma samples that differ strongly from an adjacent one.
    ///
    /// In 17 photographs, the largest share is 0.1 % at full size and 3 % at level 8; in colored text it is 8 to 54 %.
    private static let share = 0.01

    /// Edges of a few large areas are ignored: as many as two lines across and two down.
    private static func minimumEdges(in size: PixelSize) -> Int {
        Int(Double(size.area) * share) + 2 * (size.width + size.height)
    }

    /// Whether the planes have color detail; false for gray images.
    @unsafe
    static func isFound(in planes: CPlanarShimPlanes) -> Bool {
        guard planes.count == 3 else { return false }
        var (blue, red) = unsafe (planes.planes.1, planes.planes.2)
        let size = unsafe PixelSize(width: Int(blue.width), height: Int(blue.height))
        return unsafe Int(CPlanarShim_color_edges(&blue, &red)) > minimumEdges(in: size)
    }
}
