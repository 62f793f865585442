import Recipes
import Text

extension ThumborFilter {
    /// Returns nil for unknown filters and malformed arguments.
    init?(_ name: String, arguments: ThumborArguments) throws(APIError) {
        if let map = Self.map(name, arguments: arguments) {
            self = .color(map)
            return
        }
        switch name {
        case "upscale": self = .upscale
        case "proportion":
            guard let share = Self.proportion(arguments) else { return nil }
            self = .proportion(share)
        case "fill":
            let flag = arguments.count < 2 ? false : arguments.flag(1)
            guard let text = arguments.text(0), let flag, arguments.count <= 2 else { return nil }
            self = .fill(try Self.paint(text), isBehind: flag)
        case "background_color":
            guard arguments.count == 1, let text = arguments.text(0) else { return nil }
            self = text == "auto" ? .cornerBackground : .background(try Self.color(text, of: name))
        case "padding":
            guard 2...5 ~= arguments.count, let text = arguments.text(0),
                let padding = Self.padding(arguments)
            else { return nil }
            self = .padding(try Self.color(text, of: name), padding)
        case "crop":
            let lengths = (0..<4).compactMap { Self.length(arguments, at: $0) }
            guard arguments.count == 4, lengths.count == 4 else { return nil }
            self = .crop(x: lengths[0], y: lengths[1], width: lengths[2], height: lengths[3])
        case "round_corner":
            guard let corners = try Self.corners(arguments) else { return nil }
            self = corners
        case "rotate":
            guard arguments.count == 1, let degrees = arguments.signed(0, maximum: .max), degrees.isMultiple(of: 90)
            else { return nil }
            // thumbor turns counterclockwise.
            self = .turn(QuarterTurn(quarters: -(degrees / 90 % 4)))
        default:
            guard let step = Self.neighborhood(name, arguments: arguments) else { return nil }
            self = step
        }
    }

    static func color(_ text: String, of filter: String) throws(APIError) -> Color {
        let name = text.suffix(after: "#").map { String($0) } ?? text
        if name == "none" { return .transparent }
        guard let color = ColorGrammar.color(name) else { throw .badParameter(filter, "Unknown color.") }
        return color
    }

    private static func paint(_ text: String) throws(APIError) -> Paint {
        switch text {
        case "auto": .mean
        case "blur": .blurred
        default: .color(try color(text, of: "fill"))
        }
    }

    /// Reads thumbor's factor up to 10; larger values are imagor's percentage, up to 100.
    private static func proportion(_ arguments: ThumborArguments) -> Int? {
        guard arguments.count == 1, let number = arguments.millionths(0), number > 0 else { return nil }
        return number <= 10_000_000 ? number : min(number, 100_000_000) / 100
    }

    private static func padding(_ arguments: ThumborArguments) -> ThumborGeometry.Padding? {
        let numbers = (1..<arguments.count).compactMap { arguments.whole($0, maximum: ThumborTarget.maximumPixels) }
        guard numbers.count == arguments.count - 1 else { return nil }
        let left = numbers[0]
        let top = numbers.count > 1 ? numbers[1] : numbers[0]
        return numbers.count == 4
            ? ThumborGeometry.Padding(left: left, top: top, right: numbers[2], bottom: numbers[3])
            : ThumborGeometry.Padding(left: left, top: top, right: left, bottom: top)
    }

    private static func length(_ arguments: ThumborArguments, at index: Int) -> ThumborGeometry.Length? {
        guard let number = arguments.millionths(index), number >= 0 else { return nil }
        let one = 1_000_000
        return number > 0 && number < one ? .fraction(number) : .pixels(number / one)
    }

    /// Reads rounded corners.
    ///
    /// Up to three arguments are imagor's radii and color; four or five are thumbor's radii, the components of a color,
    /// and whether the area outside is transparent.
    private static func corners(_ arguments: ThumborArguments) throws(APIError) -> ThumborFilter? {
        let maximum = 100_000
        switch arguments.count {
        case 1...3:
            guard let across = arguments.whole(0, maximum: maximum),
                let down = arguments.count > 1 ? arguments.whole(1, maximum: maximum) : across
            else { return nil }
            let color = try arguments.text(2).map { text throws(APIError) in try Self.color(text, of: "round_corner") }
            return .corners(across: across, down: down, color ?? .transparent)
        case 4...5:
            let radii = (arguments.text(0) ?? "").utf8.split(
                separator: UInt8(ascii: "|"), omittingEmptySubsequences: false
            ).map { ThumborNumber.whole($0, maximum: .max) }
            let components = (1..<4).compactMap { arguments.whole($0, maximum: 255) }
            guard 1...2 ~= radii.count, let across = radii[0], let down = radii.last ?? across, components.count == 3,
                let isTransparent = arguments.count == 5 ? arguments.flag(4) : false
            else { return nil }
            let color = Color(
                red: UInt8(components[0]), green: UInt8(components[1]), blue: UInt8(components[2]),
                alpha: isTransparent ? 0 : 255)
            return .corners(across: min(across, maximum), down: min(down, maximum), color)
        default: return nil
        }
    }

    private static func neighborhood(_ name: String, arguments: ThumborArguments) -> ThumborFilter? {
        switch name {
        case "blur":
            if arguments.count == 1 {
                // imagor accepts fractions.
                guard let radius = arguments.millionths(0), radius >= 20 else { return nil }
                return .gaussian(GaussianStep(.blur, sigma: min(radius, 150_000_000) / 20))
            }
            guard arguments.count == 2, let radius = arguments.whole(0, maximum: 150), radius > 0 else { return nil }
            guard let sigma = arguments.millionths(1), sigma >= 0 else { return nil }
            return .gaussian(GaussianStep(.blur, sigma: ThumborKernel.deviation(radius: radius, sigma: sigma)))
        case "sharpen":
            guard 1...3 ~= arguments.count, let number = arguments.millionths(arguments.count > 1 ? 1 : 0),
                arguments.millionths(0) != nil, arguments.count < 3 || arguments.flag(2) != nil
            else { return nil }
            let sigma = 100_000 + 2 * (number / 10)
            guard sigma > 0 else { return nil }
            let amount = arguments.count < 3 ? 100 : ThumborKernel.sharpening(by: arguments.millionths(0) ?? 0)
            guard amount > 0 else { return nil }
            return .gaussian(GaussianStep(.sharpen, sigma: min(sigma, 10_000_000), amount: amount))
        case "pixelate":
            let side = arguments.whole(0, maximum: 16_384) ?? 0
            return .mosaic(side > 0 ? side : 10)
        case "convolution": return ThumborKernel.step(arguments).map { .convolution($0) }
        case "equalize": return arguments.count == 0 ? .histogram(.equalize) : nil
        case "noise":
            guard 1...2 ~= arguments.count, let amount = arguments.whole(0, maximum: 65_536),
                let seed = arguments.count == 2 ? arguments.whole(1) : 0
            else { return nil }
            return amount > 0 ? .histogram(.noise(amount: amount, seed: seed)) : nil
        default: return nil
        }
    }

    private static func map(_ name: String, arguments: ThumborArguments) -> ColorFormula? {
        switch (name, arguments.count) {
        case ("brightness", 1): return percent(arguments, at: 0).map { .scale(offset(by: $0)) }
        case ("contrast", 1):
            return percent(arguments, at: 0).map { value in
                let root = Double(1_000_000 * 100 + value) / 1_000_000
                let factor = Int((root * root).rounded())
                return .scale(.init(factor: factor, offset: 128 * (10_000 - factor)))
            }
        case ("rgb", 3):
            let scales = (0..<3).compactMap { percent(arguments, at: $0).map(offset(by:)) }
            return scales.count == 3 ? .scales(red: scales[0], green: scales[1], blue: scales[2]) : nil
        case ("colorize", 4): return colorize(arguments)
        case ("grayscale", _): return .matrix([299, 587, 114, 299, 587, 114, 299, 587, 114])
        case ("invert", _): return .scale(.init(factor: -10_000, offset: 2_550_000))
        case ("saturation", 1):
            // The argument is thumbor's factor or imagor's percentage.
            guard let number = arguments.millionths(0) else { return nil }
            if 0...10_000_000 ~= number { return .saturation(number / 100) }
            return .lab(lightness: 10_000, chroma: share(number), hue: 0)
        case ("hue", 1): return arguments.millionths(0).map { .lab(lightness: 10_000, chroma: 10_000, hue: angle($0)) }
        case ("modulate", 3):
            guard let lightness = arguments.millionths(0), let chroma = arguments.millionths(1),
                let hue = arguments.millionths(2)
            else { return nil }
            return .lab(lightness: share(lightness), chroma: share(chroma), hue: angle(hue))
        case ("curve", 4): return ThumborCurve.map(arguments)
        default: return nil
        }
    }

    /// Reads a percentage in millionths, clipped to the effective range; only imagor accepts fractions.
    private static func percent(_ arguments: ThumborArguments, at index: Int) -> Int? {
        let maximum = 10_000_000_000
        return arguments.millionths(index).map { min(max($0, -maximum), maximum) }
    }

    /// Returns a brightness offset; `percent` is in millionths.
    private static func offset(by percent: Int) -> ColorFormula.Scale {
        ColorFormula.Scale(offset: Int((25_500 * Double(percent) / 1_000_000).rounded()))
    }

    /// Returns a percentage in millionths as ten-thousandths, where 0 % is 1.
    private static func share(_ millionths: Int) -> Int { min(max(0, 10_000 + millionths / 10_000), 1_000_000) }

    /// Converts millionths of a degree to ten-thousandths, from 0 to 360 degrees.
    private static func angle(_ millionths: Int) -> Int { ((millionths / 100) % 3_600_000 + 3_600_000) % 3_600_000 }

    private static func colorize(_ arguments: ThumborArguments) -> ColorFormula? {
        let shares = (0..<3).compactMap { arguments.whole($0, maximum: 10_000) }
        guard shares.count == 3, let text = arguments.text(3) else { return nil }
        let digits = text.suffix(after: "#").map { String($0) } ?? text
        guard digits.utf8.count == 6, let color = ColorGrammar.color(digits) else { return nil }
        let scales = zip(shares, [color.red, color.green, color.blue]).map { share, component in
            ColorFormula.Scale(factor: (100 - share) * 100, offset: share * 100 * Int(component))
        }
        return .scales(red: scales[0], green: scales[1], blue: scales[2])
    }
}
