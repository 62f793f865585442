import Recipes
import Text

/// Reads options; the first value of an option counts, even if it is out of range.
struct WsrvOptionReader {
    var options = WsrvOptions()

    private static let longestName = 8
    private static let maximumDelays = 10_000

    /// Returns false if the name is unknown or the value has no effect; `value` is nil without `=`.
    mutating func read(_ name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?) -> Bool {
        guard (1...Self.longestName).contains(name.count) else { return false }
        let name = String(decoding: name, as: UTF8.self)
        let text = value ?? Array("-1".utf8)[...]
        return readSize(name, text: text) || readCanvas(name, text: text) || readColors(name, text: text)
            || readOutput(name, text: text)
    }

    private mutating func readSize(_ name: String, text: ArraySlice<UInt8>) -> Bool {
        switch name {
        case "w", "width": keep(WsrvNumbers.length(text), in: &options.width)
        case "h", "height": keep(WsrvNumbers.length(text), in: &options.height)
        case "dpr": keep(WsrvNumbers.fraction(text), in: &options.ratio)
        case "fit", "t":
            let word = Self.word(text)
            if ["fit", "squaredown"].contains(word) { keep(true, in: &options.isNeverEnlarged) }
            keep(Self.fit(word), in: &options.fit)
        case "we": keep(Self.flag(text), in: &options.isNeverEnlarged)
        case "cx": keep(WsrvNumbers.length(text), in: &options.cropX)
        case "cy": keep(WsrvNumbers.length(text), in: &options.cropY)
        case "cw": keep(WsrvNumbers.length(text), in: &options.cropWidth)
        case "ch": keep(WsrvNumbers.length(text), in: &options.cropHeight)
        case "crop": readCrop(text)
        case "precrop": keep(Self.flag(text), in: &options.isCroppedFirst)
        case "trim": keep(WsrvNumbers.integer(text), in: &options.trim)
        case "ro", "or": keep(WsrvNumbers.integer(text), in: &options.rotation)
        case "flip": keep(Self.flag(text), in: &options.flip)
        case "fsol": keep(!Self.flag(text), in: &options.isReducedLess)
        case "flop": keep(Self.flag(text), in: &options.flop)
        default: return false
        }
        return true
    }

    private mutating func readCanvas(_ name: String, text: ArraySlice<UInt8>) -> Bool {
        switch name {
        case "a", "align": readPosition(text)
        case "fpx": keep(WsrvNumbers.fraction(text), in: &options.focalX)
        case "fpy": keep(WsrvNumbers.fraction(text), in: &options.focalY)
        case "mask", "shape": keep(Self.mask(Self.word(text)), in: &options.mask)
        case "mtrim", "strim": keep(Self.flag(text), in: &options.isMaskTrimmed)
        case "mbg": keep(WsrvNumbers.color(text), in: &options.maskColor)
        case "bg": keep(WsrvNumbers.color(text), in: &options.background)
        case "cbg": keep(WsrvNumbers.color(text), in: &options.barColor)
        case "rbg": keep(WsrvNumbers.color(text), in: &options.cornerColor)
        default: return false
        }
        return true
    }

    private mutating func readColors(_ name: String, text: ArraySlice<UInt8>) -> Bool {
        switch name {
        case "bri": keep(WsrvNumbers.integer(text), in: &options.brightness)
        case "mod": readModulation(text)
        case "sat": keep(WsrvNumbers.fraction(text), in: &options.chroma)
        case "hue": keep(WsrvNumbers.integer(text), in: &options.hue)
        case "con": keep(WsrvNumbers.integer(text), in: &options.contrast)
        case "gam": keep(WsrvNumbers.fraction(text), in: &options.gamma)
        case "sharp": readSharpness(text)
        case "sharpf": keep(WsrvNumbers.fraction(text), in: &options.flatSharpness)
        case "sharpj": keep(WsrvNumbers.fraction(text), in: &options.jaggedSharpness)
        case "blur": keep(WsrvNumbers.fraction(text), in: &options.blur)
        case "filt": keep(WsrvOptions.Filter(rawValue: Self.word(text)) ?? .none, in: &options.filter)
        case "start": keep(WsrvNumbers.color(text), in: &options.gradientStart)
        case "stop": keep(WsrvNumbers.color(text), in: &options.gradientEnd)
        case "tint": keep(WsrvNumbers.color(text), in: &options.tint)
        default: return false
        }
        return true
    }

    private mutating func readOutput(_ name: String, text: ArraySlice<UInt8>) -> Bool {
        switch name {
        case "output": keep(Self.output(Self.word(text)), in: &options.output)
        case "q", "quality": keep(WsrvNumbers.integer(text), in: &options.quality)
        case "ll", "lossless": keep(Self.flag(text), in: &options.isLossless)
        case "page": keep(WsrvNumbers.integer(text), in: &options.page)
        case "n", "pages": keep(WsrvNumbers.integer(text), in: &options.pages)
        case "loop": keep(WsrvNumbers.integer(text), in: &options.loops)
        case "delay":
            keep(WsrvNumbers.list(text, maximum: Self.maximumDelays, WsrvNumbers.integer), in: &options.delays)
        default: return false
        }
        return true
    }

    private func keep<Value>(_ value: Value, in option: inout Value?) {
        if option == nil { option = value }
    }

    /// Reads width, height, x and y; ignores fewer numbers.
    private mutating func readCrop(_ text: ArraySlice<UInt8>) {
        let numbers = WsrvNumbers.list(text, maximum: 4) { WsrvLength.pixels(WsrvNumbers.integer($0)) }
        guard numbers.count == 4 else { return }
        keep(numbers[0], in: &options.cropWidth)
        keep(numbers[1], in: &options.cropHeight)
        keep(numbers[2], in: &options.cropX)
        keep(numbers[3], in: &options.cropY)
    }

    private mutating func readPosition(_ text: ArraySlice<UInt8>) {
        let position = Self.position(text)
        if position == .focal, let hyphen = text.firstIndex(of: UInt8(ascii: "-")) {
            let percents = WsrvNumbers.list(
                text[(hyphen + 1)...], separator: UInt8(ascii: "-"), maximum: 2, WsrvNumbers.integer)
            func share(_ index: Int) -> Float {
                guard index < percents.count, (0...100).contains(percents[index]) else { return 0.5 }
                return Float(percents[index]) / 100
            }
            keep(share(0), in: &options.focalX)
            keep(share(1), in: &options.focalY)
        }
        keep(position, in: &options.position)
    }

    private mutating func readModulation(_ text: ArraySlice<UInt8>) {
        let numbers = WsrvNumbers.list(text, maximum: 3, WsrvNumbers.fraction)
        if numbers.count > 0 { keep(numbers[0], in: &options.lightness) }
        if numbers.count > 1 { keep(numbers[1], in: &options.chroma) }
        if numbers.count > 2 { keep(Int(numbers[2]), in: &options.hue) }
    }

    /// Reads the sharpening.
    ///
    /// A single number is the standard deviation; otherwise the third one is, after amounts for flat and jagged areas.
    private mutating func readSharpness(_ text: ArraySlice<UInt8>) {
        let numbers = WsrvNumbers.list(text, maximum: 3, WsrvNumbers.fraction)
        guard numbers.count > 1 else {
            if let sigma = numbers.first { keep(sigma, in: &options.sharpness) }
            return
        }
        keep(numbers[0], in: &options.flatSharpness)
        keep(numbers[1], in: &options.jaggedSharpness)
        if numbers.count > 2 { keep(numbers[2], in: &options.sharpness) }
    }
}

extension WsrvOptionReader {
    private static let longestWord = 16

    private static func word(_ text: ArraySlice<UInt8>) -> String {
        guard text.count <= longestWord, text.allSatisfy({ $0 < 0x80 }) else { return "" }
        return String(decoding: text, as: UTF8.self)
    }

    private static func flag(_ text: ArraySlice<UInt8>) -> Bool {
        !text.elementsEqual("false".utf8) && !text.elementsEqual("0".utf8)
    }

    private static func fit(_ word: String) -> Fit {
        switch word {
        case "contain", "letterbox": .contain
        case "cover", "square", "squaredown": .cover
        case "fill", "absolute": .fill
        case "outside": .outside
        default: word.utf8.starts(with: "crop".utf8) ? .cover : .inside
        }
    }

    private static func position(_ text: ArraySlice<UInt8>) -> WsrvOptions.Position {
        if text.starts(with: "focal".utf8) || text.starts(with: "crop-".utf8) { return .focal }
        switch word(text) {
        case "t": return .top
        case "l": return .left
        case "r": return .right
        case "b": return .bottom
        case let name: return WsrvOptions.Position(rawValue: name) ?? .center
        }
    }

    private static func mask(_ word: String) -> ImageOperations.Mask? { ImageOperations.Mask(rawValue: word) }

    private static func output(_ word: String) -> WsrvOptions.Output {
        switch word {
        case "jpg": .format(.jpeg)
        case "png": .format(.png)
        case "gif": .format(.gif)
        case "webp": .format(.webp)
        case "avif", "av1": .format(.avif)
        case "tiff", "tif": .format(.tiff)
        case "json": .facts
        default: .source
        }
    }
}
