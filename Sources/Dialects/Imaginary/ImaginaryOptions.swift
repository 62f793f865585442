import HTTPTypes
import Recipes
import Text

/// Options in imaginary's terms; 0 stands for a missing number.
struct ImaginaryOptions: Hashable, Sendable {
    enum Bars: String {
        case black, white, copy, mirror, background
    }

    var width = 0
    var height = 0
    var top = 0
    var left = 0
    var areaWidth = 0
    var areaHeight = 0
    var factor = 0
    var rotate = 0
    var quality = 0
    /// The opacity, from 0 to 1.
    var opacity = 0.0
    /// The blur in pixels; `minimumAmplitude` has no effect except to request the blur.
    var sigma = 0.0
    var minimumAmplitude = 0.0
    var mirrorsX = false
    var mirrorsY = false
    var isForced = false
    var isEmbedded = false
    var keepsOrientation = false
    /// Whether cropping is disabled; nil if the parameter is absent.
    var isUncropped: Bool?
    var isGray = false
    var gravity = Gravity.center
    var bars = Bars.copy
    var background: Color?
    var ratio: PixelSize?
    var image: ExactText = ""
    var text: ExactText = ""
    /// The parameters of a text: pixels per inch, width and margin in pixels, and whether it appears only once.
    var font: ExactText = ""
    var color = Color.black
    var resolution = 0
    var textWidth = 0
    var margin = 0
    var isSingle = false
    var type: ExactText = ""
    var ignored: [String] = []

    /// Returns the color of bars; nil if they are filled from the image.
    ///
    /// Colored bars are transparent if the image has alpha; the background is added at the end.
    func barColor(hasAlpha: Bool) -> Color? {
        switch bars {
        case .white: .white
        case .black: hasAlpha ? .transparent : .black
        case .background: hasAlpha ? .transparent : background ?? .black
        case .copy, .mirror: nil
        }
    }

    /// The box, with a missing side computed from the aspect ratio in integer arithmetic, as in imaginary.
    var box: PixelSize {
        let named = PixelSize(width: max(0, width), height: max(0, height))
        guard let ratio, (width != 0) != (height != 0) else { return named }
        return width != 0
            ? PixelSize(width: named.width, height: named.width / ratio.width * ratio.height)
            : PixelSize(width: named.height / ratio.height * ratio.width, height: named.height)
    }

    var effectiveQuality: Int { 1...100 ~= quality ? quality : Self.standardQuality }

    static let standardQuality = 75
}

extension ImaginaryOptions {
    /// Ignores unknown parameters.
    mutating func set(_ name: String, to value: ImaginaryValue) throws(APIError) {
        switch name {
        case "width": width = try Self.whole(name, value: value)
        case "height": height = try Self.whole(name, value: value)
        case "top": top = try Self.whole(name, value: value)
        case "left": left = try Self.whole(name, value: value)
        case "areawidth": areaWidth = try Self.whole(name, value: value)
        case "areaheight": areaHeight = try Self.whole(name, value: value)
        case "factor": factor = try Self.whole(name, value: value)
        case "rotate": rotate = try Self.whole(name, value: value)
        case "quality": quality = try Self.whole(name, value: value)
        case "opacity": opacity = try Self.decimal(name, value: value)
        case "sigma": sigma = try Self.decimal(name, value: value)
        case "minampl": minimumAmplitude = try Self.decimal(name, value: value)
        case "flip": mirrorsX = try Self.flag(name, value: value)
        case "flop": mirrorsY = try Self.flag(name, value: value)
        case "force": isForced = try Self.flag(name, value: value)
        case "embed": isEmbedded = try Self.flag(name, value: value)
        case "norotation": keepsOrientation = try Self.flag(name, value: value)
        case "nocrop": isUncropped = try Self.flag(name, value: value)
        case "image": image = try Self.text(name, value: value)
        case "text": text = try Self.text(name, value: value)
        case "type": type = try Self.text(name, value: value)
        default: try setRest(name, to: value)
        }
    }

    private mutating func setRest(_ name: String, to value: ImaginaryValue) throws(APIError) {
        switch name {
        case "gravity": gravity = Self.gravity(try Self.word(name, value: value))
        case "extend":
            let word = try Self.word(name, value: value)
            bars = word == "lastpixel" ? .background : Bars(rawValue: word) ?? .mirror
        case "colorspace": isGray = try Self.text(name, value: value) == "bw"
        case "background":
            let text = try Self.text(name, value: value).string
            let components = text.isEmpty ? [0, 0, 0] : ImaginaryValue.components(text)
            guard components.count >= 3 else {
                throw .badParameter(name, "Must be red, green and blue, 0 to 255 with commas between them.")
            }
            let color = Color(red: components[0], green: components[1], blue: components[2])
            background = color == .black ? nil : color
        case "aspectratio":
            let text = try Self.text(name, value: value).string
            ratio = ImaginaryValue.ratio(text)
            guard text.isEmpty || ratio != nil else {
                throw .badParameter(name, "Must be WIDTH:HEIGHT, two positive integers.")
            }
        case "margin": margin = try Self.whole(name, value: value)
        case "dpi": resolution = try Self.whole(name, value: value)
        case "textwidth": textWidth = try Self.whole(name, value: value)
        case "noreplicate": isSingle = try Self.flag(name, value: value)
        case "font": font = try Self.text(name, value: value)
        case "color":
            let components = ImaginaryValue.components(try Self.text(name, value: value).string)
            if components.count > 2 { color = Color(red: components[0], green: components[1], blue: components[2]) }
        case "speed", "compression":
            _ = try Self.whole(name, value: value)
            ignored.append(name)
        case "noprofile", "interlace", "palette":
            if try Self.flag(name, value: value) { ignored.append(name) }
        // Responses never have metadata.
        case "stripmeta": _ = try Self.flag(name, value: value)
        default: break
        }
    }

    private static func gravity(_ word: String) -> Gravity {
        switch word {
        case "north": .top
        case "south": .bottom
        case "east": .right
        case "west": .left
        case "smart": .attention
        default: .center
        }
    }

    private static func whole(_ name: String, value: ImaginaryValue) throws(APIError) -> Int {
        guard let number = value.whole else { throw .badParameter(name, "Must be a whole number.") }
        return number
    }

    private static func decimal(_ name: String, value: ImaginaryValue) throws(APIError) -> Double {
        guard let number = value.decimal else { throw .badParameter(name, "Must be a number.") }
        return number
    }

    private static func flag(_ name: String, value: ImaginaryValue) throws(APIError) -> Bool {
        guard let flag = value.flag else { throw .badChoice(name, allowed: ["true", "false"]) }
        return flag
    }

    private static func text(_ name: String, value: ImaginaryValue) throws(APIError) -> ExactText {
        guard let text = value.text else { throw .badParameter(name, "Must be a string.") }
        return text
    }

    private static func word(_ name: String, value: ImaginaryValue) throws(APIError) -> String {
        HTTPSyntax.trimmed(try text(name, value: value).string[...]).asciiLowercased
    }
}
