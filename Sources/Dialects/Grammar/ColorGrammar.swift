import Crypto
import Imaging
import Text

/// Reads and writes colours as `background` and `placeholder` take them.
enum ColorGrammar {
    /// `rgb`, `rrggbb` or `rrggbbaa` in hexadecimal, or a CSS colour name, in any case; else nil.
    static func color(_ text: String) -> Color? {
        // Some characters outside ASCII have a lower case within ASCII.
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

    /// The colour in hexadecimal, with its alpha if it is not opaque.
    static func text(_ color: Color) -> String {
        let components = [color.red, color.green, color.blue]
        return Hexadecimal.encode(color.alpha == 255 ? components : components + [color.alpha])
    }

    private static func color(rgb: Int) -> Color {
        Color(red: UInt8(rgb >> 16 & 255), green: UInt8(rgb >> 8 & 255), blue: UInt8(rgb & 255))
    }
}
