import Recipes

/// Steps of every kind that has its own cost.
enum SampleStep: String, CaseIterable {
    case turn, rotate
    case colorTable, colorMatrix
    case blurNarrow, blur, blurBelowBoxes, blurWide, blurWidest
    case sharpen, sharpenWide, sharpenLightness, sharpenLightnessNarrow
    case pixelate
    case background, backgroundTranslucent, pad, canvasMean, canvasBlurred
    case radius, mask, fittedMask, ellipticCorners, translucentOutside
    case watermark, watermarkFaint, watermarkScaled, watermarkTiled
    case blendColor, blendMultiply, blendSoftLight, blendBurn, blendMask, blendRepeated
    case formulaScale, formulaCurves, formulaMatrix, formulaSaturation, formulaLab
    case equalize, noise
    case convolveSmall, convolveLarge
    case mapCurves, mapMatrix, mapLCh, mapTint, mapGray, mapGradient
    case kernelMean, kernelSharpen
    case attention, entropy
    case resampleSmaller, resampleTiny, resampleLarger, resampleSmallerLight, resampleLargerLight

    /// The step for images of this shape.
    func step(on frame: FrameShape) -> any RenderStep {
        let size = frame.size
        let paint = Color(red: 40, green: 90, blue: 200)
        let part = size.scaled(by: 3, over: 4)
        switch self {
        case .turn: return TurnStep(QuarterTurn(quarters: 1))
        case .rotate: return RotationStep(degrees: 45)
        case .colorTable:
            var filters = OperationNumbers()
            (filters[.brightness], filters[.contrast]) = (130, 80)
            return ColorStep(filters)
        case .colorMatrix:
            var filters = OperationNumbers()
            (filters[.brightness], filters[.saturation], filters[.hue], filters[.sepia]) = (130, 150, 40, 30)
            return ColorStep(filters)
        case .blurNarrow: return GaussianStep(.blur, sigma: 50_000)
        case .blur: return GaussianStep(.blur, sigma: 200_000)
        case .blurBelowBoxes: return GaussianStep(.blur, sigma: 799_000)
        case .blurWide: return GaussianStep(.blur, sigma: 2_000_000)
        case .blurWidest: return GaussianStep(.blur, sigma: 10_000_000)
        case .sharpen: return GaussianStep(.sharpen, sigma: 100_000)
        case .sharpenWide: return GaussianStep(.sharpen, sigma: 2_000_000)
        case .sharpenLightness: return LightnessSharpenStep(sigma: 10, flat: 1, jagged: 2)
        case .sharpenLightnessNarrow: return LightnessSharpenStep(sigma: 1, flat: 1, jagged: 2)
        case .pixelate: return MosaicStep(side: 10)
        case .background: return BackgroundStep(paint)
        case .backgroundTranslucent: return BackgroundStep(Color(red: 9, green: 99, blue: 199, alpha: 90))
        case .pad:
            return MarginStep(ImageOperations.Margins(top: 20, right: 20, bottom: 20, left: 20), color: paint)
        case .canvasMean: return BackdropStep(.mean, size: size.scaled(by: 2, over: 1), x: 10, y: 10)
        case .canvasBlurred:
            return BackdropStep(.blurred(sigma: 2_500_000), size: size.scaled(by: 2, over: 1), x: 10, y: 10)
        case .radius: return OutlineStep(.rounded(nil), color: .transparent)
        case .mask: return OutlineStep(.mask(.heart), color: .transparent)
        case .fittedMask: return OutlineStep(.fitted(.star), color: paint)
        case .ellipticCorners: return OutlineStep(.elliptic(across: 200_000, down: 90_000), color: paint)
        case .translucentOutside:
            return OutlineStep(.mask(.star), color: Color(red: 9, green: 99, blue: 199, alpha: 90))
        case .watermark: return Self.overlay(on: size, scaledTo: size)
        case .watermarkFaint: return Self.overlay(on: size, scaledTo: size, opacity: 40)
        case .watermarkScaled: return Self.overlay(on: size, scaledTo: part)
        case .watermarkTiled: return Self.overlay(on: size, scaledTo: size.scaled(by: 1, over: 5), isTiled: true)
        case .blendColor:
            return BlendStep(
                .color(Color(red: 9, green: 99, blue: 199, alpha: 90), size: size), across: CopyPositions(start: 0),
                down: CopyPositions(start: 0), mode: .overlay, opacity: 60)
        case .blendMultiply: return Self.blend(on: size, mode: .multiply)
        case .blendSoftLight: return Self.blend(on: size, mode: .softLight)
        case .blendBurn: return Self.blend(on: size, mode: .colorBurn)
        case .blendMask: return Self.blend(on: size, mode: .mask)
        case .blendRepeated: return Self.blend(on: size, mode: .multiply, copies: 20)
        case .formulaScale: return ColorFormulaStep(.scale(.init(factor: 12_000, offset: 50_000)))
        case .formulaCurves: return ColorFormulaStep(.curves((0..<768).map { UInt8(truncatingIfNeeded: $0 * 7) }))
        case .formulaMatrix: return ColorFormulaStep(.matrix([299, 587, 114, 299, 587, 114, 299, 587, 114]))
        case .formulaSaturation: return ColorFormulaStep(.saturation(15_000))
        case .formulaLab: return ColorFormulaStep(.lab(lightness: 11_000, chroma: 15_000, hue: 400_000))
        case .equalize: return HistogramStep.equalize
        case .noise: return HistogramStep.noise(amount: 200, seed: 1)
        case .convolveSmall: return Self.convolution(side: 3)
        case .convolveLarge: return Self.convolution(side: 15)
        case .mapCurves: return ColorMapStep(.curves([.offset(10), .sigmoid(20), .power(1.4), .negative]))
        case .mapMatrix: return ColorMapStep(.matrix([3_588, 7_044, 1_368, 2_990, 5_870, 1_140, 2_392, 4_696, 912]))
        case .mapLCh: return ColorMapStep(.lch(lightness: 1.1, chroma: 1.5, hue: 40))
        case .mapTint: return ColorMapStep(.tint(paint))
        case .mapGray: return ColorMapStep(.gray)
        case .mapGradient: return ColorMapStep(.gradient(from: paint, to: .white))
        case .kernelMean: return KernelStep(.mean)
        case .kernelSharpen: return KernelStep(.sharpen)
        case .attention: return InterestStep(.attention, size: part)
        case .entropy: return InterestStep(.entropy, size: part)
        case .resampleSmaller: return ResampleStep(to: size.scaled(by: 2, over: 5))
        case .resampleTiny: return ResampleStep(to: size.scaled(by: 1, over: 20))
        case .resampleLarger: return ResampleStep(to: size.scaled(by: 3, over: 2))
        case .resampleSmallerLight: return ResampleStep(to: size.scaled(by: 2, over: 5), in: .linear)
        case .resampleLargerLight: return ResampleStep(to: size.scaled(by: 3, over: 2), in: .linear)
        }
    }

    /// The shape of the additional source that the step for images of this size uses; nil if it uses none.
    func addition(on size: PixelSize) -> FrameShape? {
        switch self {
        case .watermark, .watermarkFaint, .watermarkScaled, .watermarkTiled, .blendMultiply, .blendSoftLight,
            .blendBurn,
            .blendMask, .blendRepeated:
            FrameShape(size: size, hasAlpha: true)
        default: nil
        }
    }

    private static func overlay(
        on size: PixelSize, scaledTo scaled: PixelSize, opacity: Int = 100, isTiled: Bool = false
    ) -> OverlayStep {
        guard let layout = OverlayLayout(scaledSize: scaled, x: 0, y: 0, on: size, isTiled: isTiled) else {
            fatalError("no watermark of \(scaled) on \(size)")
        }
        return OverlayStep(
            of: 0, layout: layout, decoded: FrameShape(size: size, hasAlpha: true), opacity: opacity, light: .linear)
    }

    /// A source as large as the image, or copies of it in both directions, each much smaller.
    private static func blend(on size: PixelSize, mode: BlendMode, copies: Int = 1) -> BlendStep {
        let own = PixelSize(width: size.width / copies, height: size.height / copies)
        guard let layout = OverlayLayout(scaledSize: own, x: 0, y: 0, on: size) else {
            fatalError("nothing to blend with \(size)")
        }
        return BlendStep(
            of: 0, layout: layout, decoded: FrameShape(size: size, hasAlpha: true),
            across: CopyPositions(start: 0, count: copies, pitch: own.width),
            down: CopyPositions(start: 0, count: copies, pitch: own.height), mode: mode, opacity: 60)
    }

    private static func convolution(side: Int) -> ConvolutionStep {
        let count = side * side
        guard let step = ConvolutionStep(factors: (0..<count).map { 1_000_000 / count + $0 }, columns: side) else {
            fatalError("no convolution of \(side)")
        }
        return step
    }
}

extension PixelSize {
    fileprivate func scaled(by factor: Int, over divisor: Int) -> PixelSize {
        PixelSize(width: width * factor / divisor, height: height * factor / divisor)
    }
}
