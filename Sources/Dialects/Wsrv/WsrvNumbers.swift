import Recipes
import Text

enum WsrvLength: Hashable, Sendable {
    case pixels(Int)
    /// A fraction from 0 to 1.
    case share(Float)

    /// Returns pixels with halves rounded away from zero; negative if the length has no effect.
    func pixels(of side: Int) -> Int {
        switch self {
        case .pixels(let pixels): pixels
        case .share(let share): Int((share * Float(side)).rounded(.toNearestOrAwayFromZero))
        }
    }

    var keyText: String {
        switch self {
        case .pixels(let pixels): "\(pixels)"
        case .share(let share): "\(share) of"
        }
    }
}

/// Reads values that are not percent-decoded; a number ends at the first invalid character, and is -1 if invalid.
enum WsrvNumbers {
    static let unreadable = -1
    /// libvips' maximum side length.
    private static let largest = 10_000_000
    private static let longestFraction = 64

    static func integer(_ text: ArraySlice<UInt8>) -> Int {
        var digits = text
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        var value: Int?
        for byte in digits {
            guard byte.isASCIIDigit else { break }
            value = min(10 * (value ?? 0) + Int(byte - UInt8(ascii: "0")), Int(Int32.max) + 1)
        }
        guard let value, value <= (isNegative ? Int(Int32.max) : largest) else { return unreadable }
        return isNegative ? -value : value
    }

    static func fraction(_ text: ArraySlice<UInt8>) -> Float {
        let text = text.prefix(longestFraction)
        var end = text.startIndex
        func skip(_ isWanted: (UInt8) -> Bool) -> Int {
            let start = end
            while end < text.endIndex, isWanted(text[end]) { end += 1 }
            return end - start
        }
        func skipSign() {
            if end < text.endIndex, text[end] == UInt8(ascii: "-") || text[end] == UInt8(ascii: "+") { end += 1 }
        }
        skipSign()
        var digits = skip(\.isASCIIDigit)
        if end < text.endIndex, text[end] == UInt8(ascii: ".") {
            end += 1
            digits += skip(\.isASCIIDigit)
        }
        guard digits > 0 else { return Float(unreadable) }
        let mantissa = end
        if end < text.endIndex, text[end] | 0x20 == UInt8(ascii: "e") {
            end += 1
            skipSign()
            if skip(\.isASCIIDigit) == 0 { end = mantissa }
        }
        let number = String(decoding: text[..<end], as: UTF8.self)
        // A number that underflows to zero is as invalid as one that overflows.
        let isZero = text[..<mantissa].allSatisfy { !(UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
        guard let value = Float(number), value.isFinite, value <= Float(largest), isZero || value.isNormal else {
            return Float(unreadable)
        }
        // Clip numbers so that they can be converted to `Int`; far below zero all have the same effect.
        return max(value, -Float(largest))
    }

    /// Reads pixels, or percent from 0 to 100, whose sign may be percent-encoded.
    static func length(_ text: ArraySlice<UInt8>) -> WsrvLength {
        let sign: Int
        if text.last == UInt8(ascii: "%") {
            sign = 1
        } else if text.count > 3, text.suffix(3).elementsEqual("%25".utf8) {
            sign = 3
        } else {
            return .pixels(integer(text))
        }
        let percent = fraction(text.dropLast(sign))
        return (0...100).contains(percent) ? .share(percent / 100) : .pixels(unreadable)
    }

    /// Reads a list, in which consecutive separators count as one.
    static func list<Number>(
        _ text: ArraySlice<UInt8>, separator: UInt8 = UInt8(ascii: ","), maximum: Int,
        _ read: (ArraySlice<UInt8>) -> Number
    ) -> [Number] {
        text.split(separator: separator, maxSplits: maximum).prefix(maximum).map(read)
    }

    /// Reads a CSS name except `gray`, or `RGB`, `ARGB`, `RRGGBB` or `AARRGGBB`; other texts are transparent.
    static func color(_ text: ArraySlice<UInt8>) -> Color {
        let spelled = text.starts(with: "%23".utf8) ? text.dropFirst(3) : text
        // No name is longer.
        guard (3...24).contains(spelled.count), spelled.allSatisfy({ $0 < 0x80 }) else { return .transparent }
        let name = String(decoding: spelled, as: UTF8.self).asciiLowercased
        if !name.contains("grey"), let rgb = ColorNames.values[ExactText(name)] {
            return color(argb: 0xff00_0000 | rgb)
        }
        guard name.utf8.allSatisfy(isHexadecimal), let value = Int(name, radix: 16) else { return .transparent }
        switch name.utf8.count {
        case 3: return color(argb: 0xff00_0000 | doubled(value, digits: 3))
        case 4: return color(argb: doubled(value, digits: 4))
        case 6: return color(argb: 0xff00_0000 | value)
        case 7: return color(argb: 0xf000_0000 | value)
        case 8: return color(argb: value)
        default: return .transparent
        }
    }

    private static func doubled(_ value: Int, digits: Int) -> Int {
        (0..<digits).reduce(0) { $0 | (value >> (4 * $1) & 15) * 17 << (8 * $1) }
    }

    private static func color(argb: Int) -> Color {
        Color(
            red: UInt8(argb >> 16 & 255), green: UInt8(argb >> 8 & 255), blue: UInt8(argb & 255),
            alpha: UInt8(argb >> 24 & 255))
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool { byte.isHexadecimalDigit && !byte.isASCIIUppercase }
}
