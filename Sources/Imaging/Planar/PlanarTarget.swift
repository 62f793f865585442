/// Describes the resampling of a planar image.
struct PlanarTarget {
    /// The size of the whole image after the resampling.
    var resizedSize: PixelSize
    /// The part of the resampled image that is computed.
    var rectangle: (x: Int, y: Int, size: PixelSize)
    /// Whether nothing has been cropped or resampled yet.
    var isWhole = true
    /// Pixels for one chroma sample on each side: 1 or 2.
    var chromaStep = 1
    /// The range of the resampled samples.
    var range = PlaneRange.full
    /// Whether a grey image gets chroma planes, too.
    var needsChroma = false
    /// What resampling averages.
    var light = ResamplingLight.gamma

    /// The target for an image of `size` that is not changed.
    init(of size: PixelSize) {
        resizedSize = size
        rectangle = (0, 0, size)
    }

    /// The chroma sample of grey.
    static let neutralChroma: UInt8 = 128

    /// Size of a plane, in samples: as many as its pixels need.
    func size(ofPlane index: Int) -> PixelSize {
        rectangle.size.samples(forEach: index == 0 ? 1 : chromaStep)
    }

    /// The planes of a grey image, or of one in colour.
    func planes(ofGrey isGrey: Bool) -> [Plane] {
        .stacked((0..<(isGrey && !needsChroma ? 1 : 3)).map { size(ofPlane: $0) })
    }

    /// How the samples of a plane are averaged, if the source has this range.
    ///
    /// Only luma is averaged as light: chroma is a difference, to which the curve does not apply.
    func mixing(ofPlane index: Int, from range: PlaneRange) -> PlaneResampling.Mixing {
        if index == 0, light == .linear { return .light }
        return range == self.range ? .bytes : .words
    }

    /// The part of a source plane that fills the target's plane.
    ///
    /// The last sample of subsampled chroma may stand for pixels beyond the image's edge.
    func region(ofPlane index: Int, in region: Plane.Region) -> Plane.Region {
        let step = index == 0 ? 1 : chromaStep
        let size = size(ofPlane: index)
        let across = region.width / Double(resizedSize.width)
        let down = region.height / Double(resizedSize.height)
        return Plane.Region(
            left: region.left + Double(rectangle.x) * across, top: region.top + Double(rectangle.y) * down,
            width: Double(size.width * step) * across, height: Double(size.height * step) * down)
    }
}
