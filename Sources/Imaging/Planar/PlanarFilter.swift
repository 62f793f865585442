import CPixels
import CPlanar
import Coordination
import Recipes

enum PlanarFilter {
    /// A change of colors; subsampled chroma is used for all its pixels, and the result is their mean.
    case colors(ColorChange)
    /// A change of gamut; chroma is treated like in ``colors(_:)``.
    case gamut(GamutConversion)
    /// A blur with `deviation` in luma pixels, or a sharpening; `amount` multiplies the difference from the blur.
    case gaussian(deviation: Double, amount: Float)

    case pad(ImageOperations.Margins, Color)
    case cut(Outline, Color)

    var addsAlpha: Bool {
        switch self {
        case .colors, .gamut, .gaussian: false
        case .pad(_, let color), .cut(_, let color): color.alpha == 0
        }
    }

    var conversion: GamutConversion? { if case .gamut(let conversion) = self { conversion } else { nil } }

    private var change: ColorChange { if case .colors(let change) = self { change } else { ColorChange() } }

    var isPad: Bool { if case .pad = self { true } else { false } }

    @unsafe
    static func pad(
        _ planes: CPlanarPlanes, into results: CPlanarPlanes, by margins: ImageOperations.Margins, color: Color,
        in range: PlaneRange, chromaStep: Int
    ) {
        let (from, to) = unsafe (planes.all, results.all)
        for (index, value) in (range.samples(of: color) + [color.alpha]).enumerated() {
            let step = index % 3 == 0 ? 1 : chromaStep
            let (source, target) = unsafe (from[index], to[index])
            guard unsafe target.samples != nil else { continue }
            var (frame, result) = unsafe (CPixelsFrame(source), CPixelsFrame(target))
            unsafe CPixels_pad(&frame, &result, Int32(margins.left / step), Int32(margins.top / step), value)
        }
    }

    /// Applies the filter; the caller has exclusive access to the planes.
    func apply(to planes: CPlanarPlanes, in range: PlaneRange, chromaStep: Int, token: WorkToken) throws {
        defer { extendLifetime(token) }
        let watch = unsafe CPixelsWatch(token)
        let all = unsafe planes.all
        var status: Int32 = 0
        switch self {
        case .colors, .gamut:
            var colors = unsafe CPixelsPlanes(planes, range: range, chromaStep: chromaStep)
            var stages = CPixelsStages(change)
            if var gamut = conversion?.numbers {
                status = unsafe CPixels_color_planes(&gamut, &stages, &colors, watch)
            } else {
                status = unsafe CPixels_color_planes(nil, &stages, &colors, watch)
            }
        case .gaussian(let deviation, let amount):
            for index in 0..<3 where status == 0 {
                var frame = unsafe CPixelsFrame(all[index])
                var gaussian = CPixelsGaussian(
                    sigma: index == 0 ? deviation : deviation / Double(chromaStep), amount: amount)
                status = unsafe CPixels_gaussian(&gaussian, &frame, &frame, watch)
            }
        case .pad: preconditionFailure("margins need other planes")
        case .cut(let outline, let color):
            let values = range.samples(of: color) + [color.alpha]
            let size = PixelSize(width: Int(unsafe all[0].width), height: Int(unsafe all[0].height))
            // Transparent pixels keep their color.
            let count = unsafe all[3].samples == nil ? 3 : 4
            for index in (addsAlpha ? 3 : 0)..<count where status == 0 {
                var frame = unsafe CPixelsFrame(all[index])
                let scaled = index % 3 == 0 ? outline : outline.reduced(by: chromaStep, in: size)
                var shape = CPixelsOutline(scaled)
                shape.color = (values[index], 0, 0, 255)
                status = unsafe CPixels_cut(&shape, &frame, &frame, watch)
            }
        }
        guard status == 0 else {
            try token.check()
            throw ImagingError.outOfMemory(detail: "no memory to filter planes")
        }
    }
}

extension CPixelsFrame {
    @unsafe
    fileprivate init(_ plane: CPlanarPlane) {
        unsafe self.init(
            pixels: plane.samples, stride: plane.stride, width: plane.width, height: plane.height, bands: 1)
    }
}

extension CPixelsStages {
    fileprivate init(_ change: ColorChange) {
        self.init()
        for scale in change.leading { append(scale) }
        for matrix in change.matrices { append(matrix.factors + [0, 0, 0]) }
        if change.trailing != ColorChange.Scale() { append(change.trailing) }
    }

    private mutating func append(_ scale: ColorChange.Scale) {
        let factor = scale.factor
        let offset = scale.offset
        append([factor, 0, 0, 0, factor, 0, 0, 0, factor, offset, offset, offset])
    }

    private mutating func append(_ factors: [Double]) {
        precondition(count < CPixels_max_stages, "too many changes of colors")
        var stage = CPixelsStage()
        storeFloats(factors, in: &stage.factors)
        unsafe withUnsafeMutableBytes(of: &stages) { bytes in
            unsafe bytes.storeBytes(
                of: stage, toByteOffset: Int(count) * MemoryLayout<CPixelsStage>.stride, as: CPixelsStage.self)
        }
        count += 1
    }
}
