import Recipes

extension WsrvOptions {
    func changeColors(of image: inout PlannedImage) {
        if let percent = used(brightness) { image.apply(ColorMapStep(.curves([.offset(percent)]))) }
        appendModulation(to: &image)
        var curves: [ToneCurve] = []
        if let percent = used(contrast) { curves.append(.sigmoid(percent)) }
        if let gamma, gamma != 0 { curves.append(.power((1...3).contains(gamma) ? gamma : 2.2)) }
        if !curves.isEmpty { image.apply(ColorMapStep(.curves(curves))) }
        appendSharpening(to: &image)
        appendFilter(to: &image)
        appendBlur(to: &image)
        if let tint, tint.alpha > 0, filter != .greyscale { image.apply(ColorMapStep(.tint(tint))) }
        if let background, background.alpha > 0 {
            let color = filter == .greyscale ? background.gray : background
            image.apply(BackgroundStep(color, mixing: .sum))
        }
    }

    func mask(_ image: inout PlannedImage) {
        guard let mask = effectiveMask else { return }
        let size = image.size
        image.apply(OutlineStep(.fitted(mask), color: maskColor ?? .transparent))
        let shape = FittedMask(mask, in: size).size
        guard isMaskTrimmed == true, shape != size else { return }
        image.apply(CropStep(to: shape, of: size, at: .center, rounding: .up))
    }

    var effectiveMask: ImageOperations.Mask? { mask ?? nil }

    private func used(_ percent: Int?) -> Int? { percent.flatMap { $0 != 0 && (-100...100).contains($0) ? $0 : nil } }

    private func appendModulation(to image: inout PlannedImage) {
        func factor(_ value: Float?) -> Float { value.flatMap { (0...10_000).contains($0) ? $0 : nil } ?? 1 }
        let lightness = factor(lightness)
        let chroma = factor(chroma)
        let hue = ((hue ?? 0) % 360 + 360) % 360
        guard lightness != 1 || chroma != 1 || hue != 0 else { return }
        image.apply(ColorMapStep(.lch(lightness: lightness, chroma: chroma, hue: hue)))
    }

    private func appendSharpening(to image: inout PlannedImage) {
        guard let sharpness, sharpness != 0 else { return }
        guard (0.000001...10).contains(sharpness) else { return image.apply(KernelStep(.sharpen)) }
        func amount(_ value: Float?, _ defaultValue: Float) -> Float {
            value.flatMap { (0...1_000_000).contains($0) ? $0 : nil } ?? defaultValue
        }
        image.apply(
            LightnessSharpenStep(sigma: sharpness, flat: amount(flatSharpness, 1), jagged: amount(jaggedSharpness, 2)))
    }

    private func appendFilter(to image: inout PlannedImage) {
        switch filter {
        case .greyscale: image.apply(ColorMapStep(.gray))
        case .sepia:
            image.apply(ColorMapStep(.matrix([3_588, 7_044, 1_368, 2_990, 5_870, 1_140, 2_392, 4_696, 912])))
        case .duotone:
            let start = gradientStart ?? Color(red: 200, green: 54, blue: 88)
            let end = gradientEnd ?? Color(red: 216, green: 231, blue: 79)
            image.apply(ColorMapStep(.gradient(from: start, to: end)))
        case .negate: image.apply(ColorMapStep(.curves([.negative])))
        case .none?, nil: break
        }
    }

    private func appendBlur(to image: inout PlannedImage) {
        guard let blur, blur != 0 else { return }
        guard (0.3...1_000).contains(blur) else { return image.apply(KernelStep(.mean)) }
        image.apply(GaussianStep(.blur, sigma: Int((blur * 100_000).rounded())))
    }
}

extension Color {
    fileprivate var gray: Color {
        let luminance = 0.2126 * Double(red) + 0.7152 * Double(green) + 0.0722 * Double(blue)
        let component = UInt8(luminance.rounded())
        return Color(red: component, green: component, blue: component, alpha: alpha)
    }
}

extension WsrvOptions {
    var keyText: String {
        var text: [String] = []
        func add(_ name: String, _ value: (some CustomStringConvertible)?) {
            if let value { text.append("\(name)=\(value)") }
        }
        let lengths = [
            ("w", width), ("h", height), ("cx", cropX), ("cy", cropY), ("cw", cropWidth), ("ch", cropHeight),
        ]
        for (name, length) in lengths { add(name, length?.keyText) }
        let fractions = [
            ("dpr", ratio), ("fpx", focalX), ("fpy", focalY), ("mod", lightness), ("sat", chroma), ("gam", gamma),
            ("sharp", sharpness), ("sharpf", flatSharpness), ("sharpj", jaggedSharpness), ("blur", blur),
        ]
        for (name, number) in fractions { add(name, number) }
        let numbers = [("ro", rotation), ("bri", brightness), ("hue", hue), ("con", contrast)]
        for (name, number) in numbers { add(name, number) }
        let flags = [
            ("we", isNeverEnlarged), ("precrop", isCroppedFirst), ("mtrim", isMaskTrimmed), ("flip", flip),
            ("flop", flop),
        ]
        for (name, flag) in flags { add(name, flag) }
        let colors = [
            ("mbg", maskColor), ("bg", background), ("cbg", barColor), ("rbg", cornerColor), ("tint", tint),
            ("start", gradientStart), ("stop", gradientEnd),
        ]
        for (name, color) in colors { add(name, color.map { "\($0.red),\($0.green),\($0.blue),\($0.alpha)" }) }
        add("fit", fit?.rawValue)
        add("a", position?.rawValue)
        add("mask", effectiveMask?.rawValue)
        add("filt", filter?.rawValue)
        return text.joined(separator: " ")
    }
}
