/// What a planar picture is resampled to.
struct PlanarTarget {
    /// The size of the whole picture afterwards.
    var resizedSize: PixelSize
    /// The part of it that is wanted.
    var rectangle: (x: Int, y: Int, size: PixelSize)
    /// Whether nothing has been cut off or resampled yet.
    var isWhole = true
    /// Pixels for one sample of chroma on each side: 1 or 2.
    var chromaStep = 1
    /// What the numbers of a sample mean.
    var range = PlaneRange.full
    /// Whether a grey picture gets planes of chroma, too.
    var needsChroma = false
    /// In what light pixels are mixed.
    var light = ResamplingLight.gamma

    /// A picture of `size` as it is.
    init(of size: PixelSize) {
        resizedSize = size
        rectangle = (0, 0, size)
    }

    /// The sample of chroma that stands for no colour.
    static let neutralChroma: UInt8 = 128

    /// Samples of a plane: exactly as many as its pixels need.
    func size(ofPlane index: Int) -> PixelSize {
        rectangle.size.samples(forEach: index == 0 ? 1 : chromaStep)
    }

    /// The planes, of a grey picture or of one in colours.
    func planes(ofGrey isGrey: Bool) -> [Plane] {
        .stacked((0..<(isGrey && !needsChroma ? 1 : 3)).map { size(ofPlane: $0) })
    }

    /// How the samples of a plane are mixed, whose source has this range.
    ///
    /// Light is luma's: what chroma says is a difference, which the curve does not hold for.
    func mixing(ofPlane index: Int, from range: PlaneRange) -> PlaneResampling.Mixing {
        if index == 0, light == .linear { return .light }
        return range == self.range ? .bytes : .words
    }

    /// The part of a source plane that fills the target's.
    ///
    /// The last sample of subsampled chroma may stand for pixels behind the picture's edge.
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
