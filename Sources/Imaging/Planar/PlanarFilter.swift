import CPixels
import CPlanarShim
import Coordination

/// What planes of full range can do besides resampling and turns, in place.
enum PlanarFilter {
    /// A change of colours.
    ///
    /// Chroma that two by two pixels share is that of all four; the result's is the mean of theirs.
    case colors(ColorChange)
    /// `amount` times the difference from the Gaussian mean is added; `deviation` is in pixels of luma.
    case gaussian(deviation: Double, amount: Float)

    /// Changes three planes, which nothing else uses.
    ///
    /// - Throws: ``ImagingError/encodeFailed(detail:)``, or the error of `token`.
    func apply(to planes: CPlanarShimPlanes, chromaStep: Int, token: WorkToken) throws {
        defer { extendLifetime(token) }
        let watch = unsafe CPixelsWatch(should_stop: shouldStop, context: Unmanaged.passUnretained(token).toOpaque())
        let all = unsafe [planes.planes.0, planes.planes.1, planes.planes.2]
        var status: Int32 = 0
        switch self {
        case .colors(let change):
            var stages = CPixelsStages(change)
            var colors = unsafe CPixelsPlanes(
                samples: (all[0].samples, all[1].samples, all[2].samples), strides: (all[0].stride, all[1].stride),
                width: all[0].width, height: all[0].height, step: Int32(chromaStep))
            status = unsafe CPixels_color_planes(&stages, &colors, watch)
        case .gaussian(let deviation, let amount):
            for index in 0..<3 where status == 0 {
                let plane = unsafe all[index]
                var frame = unsafe CPixelsFrame(
                    pixels: plane.samples, stride: plane.stride, width: plane.width, height: plane.height, bands: 1)
                var gaussian = CPixelsGaussian(
                    sigma: index == 0 ? deviation : deviation / Double(chromaStep), amount: amount)
                status = unsafe CPixels_gaussian(&gaussian, &frame, &frame, watch)
            }
        }
        guard status == 0 else {
            try token.check()
            throw ImagingError.encodeFailed(detail: "no memory to filter planes")
        }
    }
}

extension CPixelsStages {
    /// The parts of a change, each of which is clipped.
    fileprivate init(_ change: ColorChange) {
        self.init()
        for scale in change.leading { append(scale) }
        for matrix in change.matrices { append(matrix.factors + [0, 0, 0]) }
        if change.trailing != ColorChange.Scale() { append(change.trailing) }
    }

    private mutating func append(_ scale: ColorChange.Scale) {
        let (factor, offset) = (scale.factor, scale.offset)
        append([factor, 0, 0, 0, factor, 0, 0, 0, factor, offset, offset, offset])
    }

    private mutating func append(_ factors: [Double]) {
        precondition(count < CPixels_most_stages, "too many changes of colours")
        var stage = CPixelsStage()
        unsafe withUnsafeMutableBytes(of: &stage.factors) { bytes in
            for (index, factor) in factors.enumerated() {
                unsafe bytes.storeBytes(
                    of: Float(factor), toByteOffset: index * MemoryLayout<Float>.stride, as: Float.self)
            }
        }
        unsafe withUnsafeMutableBytes(of: &stages) { bytes in
            unsafe bytes.storeBytes(
                of: stage, toByteOffset: Int(count) * MemoryLayout<CPixelsStage>.stride, as: CPixelsStage.self)
        }
        count += 1
    }
}
