import CPlanar
import Recipes

/// Resamples three planes together in linear light.
///
/// Chroma is a difference of gamma-encoded values, so the planes are converted to pixels row by row, averaged, and
/// converted back.
struct ColorResampling {
    let resampling: PlaneResampling
    private let planes: [Plane]
    private let range: PlaneRange
    private let lumaSamples: PixelRectangle
    private let chromaSamples: PixelRectangle
    /// The center of the first luma sample relative to chroma samples, and the distance of luma samples.
    private let chromaGrid: (left: Double, top: Double, across: Double, down: Double)
    private let plan: PlanarTarget

    /// Returns nil if the planes of `image` are resampled separately.
    init?(_ image: DecodedImage, to target: PlanarTarget) {
        guard image.hasColorDetail, target.geometry.light == .linear,
            case .planar(let planes, let range) = image.layout,
            planes.count == 3, planes[1].size == planes[2].size, planes[1].region == planes[2].region
        else { return nil }
        let luma = target.resampledRegion(of: planes[0].region)
        let chroma = target.resampledRegion(of: planes[1].region)
        lumaSamples = target.samples(of: planes[0])
        chromaSamples = target.samples(of: planes[1])
        let size = target.size(ofPlane: 0)
        var region = target.region(ofPlane: 0, in: luma)
        region.left -= Double(lumaSamples.x)
        region.top -= Double(lumaSamples.y)
        guard region.width > Double(size.width) || region.height > Double(size.height),
            chromaSamples.size.width <= lumaSamples.size.width, chromaSamples.size.height <= lumaSamples.size.height
        else { return nil }
        resampling = PlaneResampling(
            source: lumaSamples.size, region: region, target: size, mixing: .lightOfColors, kernel: .lanczos)
        let across = chroma.width / luma.width
        let down = chroma.height / luma.height
        chromaGrid = (
            left: chroma.left - Double(chromaSamples.x) + (Double(lumaSamples.x) + 0.5 - luma.left) * across - 0.5,
            top: chroma.top - Double(chromaSamples.y) + (Double(lumaSamples.y) + 0.5 - luma.top) * down - 0.5,
            across: across, down: down
        )
        self.planes = planes
        self.range = range
        plan = target
    }

    @unsafe
    func source(in bytes: UnsafeRawBufferPointer) -> CPlanarColors {
        let all = unsafe CPlanarPlanes(planes, in: bytes).planes
        return unsafe CPlanarColors(
            planes: (cut(all.0, to: lumaSamples), cut(all.1, to: chromaSamples), cut(all.2, to: chromaSamples)),
            left: chromaGrid.left, top: chromaGrid.top, across: chromaGrid.across, down: chromaGrid.down,
            is_limited: range == .limited ? 1 : 0)
    }

    @unsafe
    func target(_ planes: CPlanarPlanes) -> CPlanarColorTarget {
        let before = plan.pixelsBefore(plane: 1)
        return unsafe CPlanarColorTarget(
            planes: (planes.planes.0, planes.planes.1, planes.planes.2), step: Int32(plan.chromaStep),
            columns_before: Int32(before.across), rows_before: Int32(before.down),
            is_limited: plan.range == .limited ? 1 : 0)
    }

    @unsafe
    private func cut(_ plane: CPlanarPlane, to samples: PixelRectangle) -> CPlanarPlane {
        unsafe CPlanarPlane(
            samples: plane.samples + (samples.y * plane.stride + samples.x), stride: plane.stride,
            width: Int32(samples.size.width), height: Int32(samples.size.height))
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

    /// Returns whether the planes have color detail; false for gray images.
    @unsafe
    static func isFound(in planes: CPlanarPlanes) -> Bool {
        guard planes.count == 3 else { return false }
        var (blue, red) = unsafe (planes.planes.1, planes.planes.2)
        let size = unsafe PixelSize(width: Int(blue.width), height: Int(blue.height))
        return unsafe Int(CPlanar_color_edges(&blue, &red)) > minimumEdges(in: size)
    }
}
