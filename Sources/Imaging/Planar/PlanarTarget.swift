import Recipes

struct PlanarTarget {
    var geometry: StepGeometry
    private(set) var filters: [PlanarFilter] = []
    var supportsFilters = false
    var supportsAlphaPlane = false
    /// Pixels per chroma sample on each axis: 1 or 2.
    var chromaStep = 1
    var range = PlaneRange.full
    var needsChroma = false
    /// Whether to compute subsampled chroma from full-size chroma, so that edges between colors stay sharp.
    var hasSharpChroma = false

    init(of size: PixelSize) { geometry = StepGeometry(of: size) }

    func canResample(from size: PixelSize) -> Bool {
        let source = geometry.region?.rounded(in: size).size ?? size
        return geometry.resizedSize.width <= source.width && geometry.resizedSize.height <= source.height
            && min(geometry.rectangle.size.width, geometry.rectangle.size.height) >= StepGeometry.shortestPlane
    }

    func filtered(by filter: PlanarFilter) -> PlanarTarget? {
        // Only pixel results are converted.
        guard supportsFilters || filter.conversion != nil && filters.isEmpty, supportsAlphaPlane || !filter.addsAlpha,
            !(filter.isPad && filters.contains(where: \.isPad))
        else {
            return nil
        }
        var next = self
        next.filters.append(filter)
        next.geometry.isWhole = false
        return next
    }

    /// Removes the change of gamut at the start, and returns it.
    func withoutGamut() -> (target: PlanarTarget, conversion: GamutConversion?) {
        guard let conversion = filters.first?.conversion else { return (self, nil) }
        var rest = self
        rest.filters.removeFirst()
        return (rest, conversion)
    }

    static let neutralChroma: UInt8 = 128

    func size(ofPlane index: Int) -> PixelSize { geometry.rectangle.size.reduced(by: index == 0 ? 1 : chromaStep) }

    func planes(ofGray isGray: Bool) -> [Plane] {
        .stacked((0..<(isGray && !needsChroma ? 1 : 3)).map { size(ofPlane: $0) })
    }

    /// Returns the mixing of a plane; only luma uses linear light, because chroma is a difference.
    func mixing(ofPlane index: Int) -> PlaneResampling.Mixing {
        index == 0 && geometry.light == .linear ? .light : .samples
    }

    var size: PixelSize {
        filters.reduce(geometry.turn.turned(geometry.rectangle.size)) { size, filter in
            if case .pad(let margins, _) = filter { margins.around(size) } else { size }
        }
    }

    var hasAlpha: Bool { filters.contains(where: \.addsAlpha) }

    func resultPlanes(ofGray isGray: Bool) -> [Plane] {
        .stacked(planes(ofGray: isGray).indices.map { size.reduced(by: $0 == 0 ? 1 : chromaStep) })
    }

    func turnedPlanes(ofGray isGray: Bool) -> [Plane] {
        .stacked(planes(ofGray: isGray).map { geometry.turn.turned($0.size) })
    }

    /// Returns the region of a source plane to resample; the image fills `filled`.
    func resampledRegion(of filled: Plane.Region) -> Plane.Region {
        guard let region = geometry.region else { return filled }
        let across = ImageRegion.span(region.x, count: region.size.width, of: region.whole.width, in: filled.width)
        let down = ImageRegion.span(region.y, count: region.size.height, of: region.whole.height, in: filled.height)
        return Plane.Region(
            left: filled.left + across.start, top: filled.top + down.start, width: across.length, height: down.length)
    }

    /// Returns the samples of a source plane to read; samples around the resampled region are not mixed in.
    func samples(of source: Plane) -> PixelRectangle {
        guard geometry.region != nil else { return PixelRectangle(size: source.size) }
        return resampledRegion(of: source.region).samples(in: source.size)
    }

    /// Returns the number of pixels by which a plane's first sample begins before the image.
    func pixelsBefore(plane index: Int) -> (across: Int, down: Int) {
        let step = index == 0 ? 1 : chromaStep
        let size = size(ofPlane: index)
        return (
            across: geometry.turn.reversesColumns ? size.width * step - geometry.rectangle.size.width : 0,
            down: geometry.turn.reversesRows ? size.height * step - geometry.rectangle.size.height : 0
        )
    }

    /// Returns the region that fills the target's plane if the resampled region of the image fills `region`.
    ///
    /// The last sample of subsampled chroma may cover pixels beyond the image's edge; in a mirrored plane, this is the
    /// first sample.
    func region(ofPlane index: Int, in region: Plane.Region) -> Plane.Region {
        let step = index == 0 ? 1 : chromaStep
        let size = size(ofPlane: index)
        let beyond = pixelsBefore(plane: index)
        let across = region.width / Double(geometry.resizedSize.width)
        let down = region.height / Double(geometry.resizedSize.height)
        return Plane.Region(
            left: region.left + Double(geometry.rectangle.x - beyond.across) * across,
            top: region.top + Double(geometry.rectangle.y - beyond.down) * down,
            width: Double(size.width * step) * across, height: Double(size.height * step) * down)
    }
}
