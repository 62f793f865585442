import Coordination
package import Recipes

extension ColorStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        // Other matrices do not change gray.
        let image = try filters[.sepia] > 0 ? image.inColor() : image
        return try image.colored(by: ColorChange(filters), token: context.token)
    }
}

extension ColorStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? { target.filtered(by: .colors(ColorChange(filters))) }
}

extension ColorMapStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let token = context.token
        switch map {
        case .curves(let curves):
            let table = (0...255).map { component in
                curves.reduce(Double(component)) { $1.value(at: $0) }
            }
            return try image.mapped(by: table, token: token)
        case .matrix(let factors):
            var change = ColorChange()
            change.append(ColorChange.Matrix(factors: factors.map { Double($0) / 10_000 }))
            return try image.inColor().colored(by: change, token: token)
        case .lch(let lightness, let chroma, let hue, let added):
            return try image.inColor().keepingAlpha { colors throws(VipsError) in
                try colors.scaled(
                    lightness: Double(lightness), added: Double(added), chroma: Double(chroma), hue: Double(hue))
            }
        case .tint(let color):
            let target = LabColor(color)
            return try image.inColor().keepingAlpha { colors throws(VipsError) in
                try colors.tinted(a: target.a, b: target.b)
            }
        case .gray: return try image.keepingAlpha { colors throws(VipsError) in try colors.inGray() }
        case .gradient(let from, let to):
            let start = LabColor(from)
            let end = LabColor(to)
            let gradient = (0...255).map { start.mixed(with: end, share: Double($0) / 255).color }
            return try image.keepingAlpha { colors throws(VipsError) in
                try colors.inGray().replaced(by: gradient)
            }
        }
    }
}

extension ColorFormulaStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.changed(by: formula, token: context.token)
    }
}

extension HistogramStep: VipsStep {
    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        switch self {
        case .equalize: return try image.equalized(token: context.token)
        case .normalize(let low, let high):
            image.watch(context.token)
            let image = try image.inColor().computed()
            try context.token.check()
            let (minimum, maximum): (Int, Int) = try context.onFirstFrame {
                let colors = try image.extractedBands(0, count: 3)
                return (try colors.lightness(atPercent: low), try colors.lightness(atPercent: high))
            }
            guard maximum - minimum > 1 else { return image }
            let factor = 100 / Double(maximum - minimum)
            return try image.keepingAlpha { colors throws(VipsError) in
                try colors.scaled(lightness: factor, added: -factor * Double(minimum))
            }
        case .noise(let amount, let seed): return try image.noisy(amount: amount, seed: seed, token: context.token)
        }
    }
}
