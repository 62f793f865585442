import Crypto
import Recipes
import Text

enum ColorGrammar {
    /// Reads `rgb`, `rrggbb` or `rrggbbaa` in hexadecimal, or a CSS color name, ignoring case.
    static func color(_ text: String) -> Color? {
        // Some non-ASCII characters have an ASCII lowercase form.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let text = text.asciiLowercased
        if let named = ColorNames.values[ExactText(text)] { return color(rgb: named) }
        if text == "transparent" { return .transparent }
        let digits = text.utf8.count == 3 ? String(text.flatMap { [$0, $0] }) : text
        guard digits.utf8.count == 6 || digits.utf8.count == 8, let bytes = Hexadecimal.decode(digits) else {
            return nil
        }
        return Color(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
    }

    private static func color(rgb: Int) -> Color {
        Color(red: UInt8(rgb >> 16 & 255), green: UInt8(rgb >> 8 & 255), blue: UInt8(rgb & 255))
    }
}

extension ColorGrammar {
    /// Reads the forms of ``color(_:)``, and CSS notation with `#`, `rgb()` or `rgba()`.
    static func nativeColor(_ text: String) -> Color? {
        if let digits = text.suffix(after: "#") { return digits.utf8.count == 4 ? nil : hexadecimal(digits) }
        return text.utf8.last == UInt8(ascii: ")") && text.asciiLowercased.hasPrefix("rgb")
            ? cssColor(text) : color(text)
    }

    private static func hexadecimal(_ digits: Substring) -> Color? {
        let isShort = 3...4 ~= digits.utf8.count
        let pairs = isShort ? String(digits.flatMap { [$0, $0] }) : String(digits)
        return Hexadecimal.decode(pairs) == nil ? nil : color(pairs)
    }

    /// Reads three, four, six or eight hexadecimal digits with or without `#`, a name, or `rgb()`, `hsl()` or `hwb()`.
    ///
    /// See CSS Color Module Level 4, sections 5 to 8.
    static func cssColor(_ text: String) -> Color? {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        if let digits = text.suffix(after: "#") { return hexadecimal(digits) }
        if let color = hexadecimal(text[...]) ?? color(text) { return color }
        guard text.utf8.last == UInt8(ascii: ")"), let inside = text.suffix(after: UInt8(ascii: "(")) else {
            return nil
        }
        let name = text.prefix(before: UInt8(ascii: "(")).asciiLowercased
        let values = inside.dropLast().utf8.split { " ,/".utf8.contains($0) }.map { Substring($0) }
        guard values.count == 3 || values.count == 4 else { return nil }
        guard let alpha = values.count == 4 ? fraction(values[3], of: 1) : 1 else { return nil }
        switch name {
        case "rgb", "rgba": return rgbColor(values, alpha: alpha)
        case "hsl", "hsla": return hueColor(values, isHWB: false, alpha: alpha)
        case "hwb": return hueColor(values, isHWB: true, alpha: alpha)
        default: return nil
        }
    }

    private static func rgbColor(_ values: [Substring], alpha: Double) -> Color? {
        guard let red = fraction(values[0], of: 255), let green = fraction(values[1], of: 255),
            let blue = fraction(values[2], of: 255)
        else { return nil }
        return color(red: red, green: green, blue: blue, alpha: alpha)
    }

    /// Reads a hue in degrees with saturation and lightness, or in HWB with whiteness and blackness.
    private static func hueColor(_ values: [Substring], isHWB: Bool, alpha: Double) -> Color? {
        let angle = values[0].utf8.count > 3 && values[0].asciiLowercased.hasSuffix("deg") ? 3 : 0
        guard let degrees = ParameterGrammar.decimal(values[0].dropLast(angle)),
            let second = fraction(values[1], of: 100), let third = fraction(values[2], of: 100)
        else { return nil }
        let hue = degrees - 360 * (degrees / 360).rounded(.down)
        let white = isHWB ? second / max(1, second + third) : 0
        let scale = isHWB ? max(0, 1 - second - third) : 1
        let (saturation, lightness) = isHWB ? (1, 0.5) : (second, third)
        func component(_ number: Double) -> Double {
            let sector = (number + hue / 30).truncatingRemainder(dividingBy: 12)
            let range = saturation * min(lightness, 1 - lightness)
            return (lightness - range * max(-1, min(sector - 3, 9 - sector, 1))) * scale + white
        }
        return color(red: component(0), green: component(8), blue: component(4), alpha: alpha)
    }

    private static func fraction(_ text: Substring, of whole: Double) -> Double? {
        let isPercent = text.utf8.last == UInt8(ascii: "%")
        return ParameterGrammar.decimal(isPercent ? text.dropLast() : text).map { number in
            min(max(number / (isPercent ? 100 : whole), 0), 1)
        }
    }

    private static func color(red: Double, green: Double, blue: Double, alpha: Double) -> Color {
        func byte(_ fraction: Double) -> UInt8 { UInt8((255 * fraction).rounded()) }
        return Color(red: byte(red), green: byte(green), blue: byte(blue), alpha: byte(alpha))
    }
}

enum ColorNames {
    /// Colors as `0xRRGGBB`, by lowercase name.
    static let values: [ExactText: Int] = [
        "aliceblue": 0xf0f8ff, "antiquewhite": 0xfaebd7, "aqua": 0x00ffff, "aquamarine": 0x7fffd4, "azure": 0xf0ffff,
        "beige": 0xf5f5dc, "bisque": 0xffe4c4, "black": 0x000000, "blanchedalmond": 0xffebcd, "blue": 0x0000ff,
        "blueviolet": 0x8a2be2, "brown": 0xa52a2a, "burlywood": 0xdeb887, "cadetblue": 0x5f9ea0, "chartreuse": 0x7fff00,
        "chocolate": 0xd2691e, "coral": 0xff7f50, "cornflowerblue": 0x6495ed, "cornsilk": 0xfff8dc, "crimson": 0xdc143c,
        "cyan": 0x00ffff, "darkblue": 0x00008b, "darkcyan": 0x008b8b, "darkgoldenrod": 0xb8860b, "darkgray": 0xa9a9a9,
        "darkgreen": 0x006400, "darkgrey": 0xa9a9a9, "darkkhaki": 0xbdb76b, "darkmagenta": 0x8b008b,
        "darkolivegreen": 0x556b2f, "darkorange": 0xff8c00, "darkorchid": 0x9932cc, "darkred": 0x8b0000,
        "darksalmon": 0xe9967a, "darkseagreen": 0x8fbc8f, "darkslateblue": 0x483d8b, "darkslategray": 0x2f4f4f,
        "darkslategrey": 0x2f4f4f, "darkturquoise": 0x00ced1, "darkviolet": 0x9400d3, "deeppink": 0xff1493,
        "deepskyblue": 0x00bfff, "dimgray": 0x696969, "dimgrey": 0x696969, "dodgerblue": 0x1e90ff,
        "firebrick": 0xb22222, "floralwhite": 0xfffaf0, "forestgreen": 0x228b22, "fuchsia": 0xff00ff,
        "gainsboro": 0xdcdcdc, "ghostwhite": 0xf8f8ff, "gold": 0xffd700, "goldenrod": 0xdaa520, "gray": 0x808080,
        "green": 0x008000, "greenyellow": 0xadff2f, "grey": 0x808080, "honeydew": 0xf0fff0, "hotpink": 0xff69b4,
        "indianred": 0xcd5c5c, "indigo": 0x4b0082, "ivory": 0xfffff0, "khaki": 0xf0e68c, "lavender": 0xe6e6fa,
        "lavenderblush": 0xfff0f5, "lawngreen": 0x7cfc00, "lemonchiffon": 0xfffacd, "lightblue": 0xadd8e6,
        "lightcoral": 0xf08080, "lightcyan": 0xe0ffff, "lightgoldenrodyellow": 0xfafad2, "lightgray": 0xd3d3d3,
        "lightgreen": 0x90ee90, "lightgrey": 0xd3d3d3, "lightpink": 0xffb6c1, "lightsalmon": 0xffa07a,
        "lightseagreen": 0x20b2aa, "lightskyblue": 0x87cefa, "lightslategray": 0x778899, "lightslategrey": 0x778899,
        "lightsteelblue": 0xb0c4de, "lightyellow": 0xffffe0, "lime": 0x00ff00, "limegreen": 0x32cd32, "linen": 0xfaf0e6,
        "magenta": 0xff00ff, "maroon": 0x800000, "mediumaquamarine": 0x66cdaa, "mediumblue": 0x0000cd,
        "mediumorchid": 0xba55d3, "mediumpurple": 0x9370db, "mediumseagreen": 0x3cb371, "mediumslateblue": 0x7b68ee,
        "mediumspringgreen": 0x00fa9a, "mediumturquoise": 0x48d1cc, "mediumvioletred": 0xc71585,
        "midnightblue": 0x191970, "mintcream": 0xf5fffa, "mistyrose": 0xffe4e1, "moccasin": 0xffe4b5,
        "navajowhite": 0xffdead, "navy": 0x000080, "oldlace": 0xfdf5e6, "olive": 0x808000, "olivedrab": 0x6b8e23,
        "orange": 0xffa500, "orangered": 0xff4500, "orchid": 0xda70d6, "palegoldenrod": 0xeee8aa, "palegreen": 0x98fb98,
        "paleturquoise": 0xafeeee, "palevioletred": 0xdb7093, "papayawhip": 0xffefd5, "peachpuff": 0xffdab9,
        "peru": 0xcd853f, "pink": 0xffc0cb, "plum": 0xdda0dd, "powderblue": 0xb0e0e6, "purple": 0x800080,
        "rebeccapurple": 0x663399, "red": 0xff0000, "rosybrown": 0xbc8f8f, "royalblue": 0x4169e1,
        "saddlebrown": 0x8b4513, "salmon": 0xfa8072, "sandybrown": 0xf4a460, "seagreen": 0x2e8b57, "seashell": 0xfff5ee,
        "sienna": 0xa0522d, "silver": 0xc0c0c0, "skyblue": 0x87ceeb, "slateblue": 0x6a5acd, "slategray": 0x708090,
        "slategrey": 0x708090, "snow": 0xfffafa, "springgreen": 0x00ff7f, "steelblue": 0x4682b4, "tan": 0xd2b48c,
        "teal": 0x008080, "thistle": 0xd8bfd8, "tomato": 0xff6347, "turquoise": 0x40e0d0, "violet": 0xee82ee,
        "wheat": 0xf5deb3, "white": 0xffffff, "whitesmoke": 0xf5f5f5, "yellow": 0xffff00, "yellowgreen": 0x9acd32,
    ]
}
