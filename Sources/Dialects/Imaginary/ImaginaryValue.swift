import JSON
import Recipes
import Text

enum ImaginaryValue: Hashable {
    case text(ExactText)
    case number(Double)
    case flag(Bool)
    /// Null, a list or an object, which no parameter accepts.
    case other

    init(_ value: JSONValue) {
        self =
            switch value {
            case .string(let text): .text(ExactText(text))
            case .int(let number): .number(Double(number))
            case .double(let number): .number(number)
            case .bool(let flag): .flag(flag)
            case .null, .array, .object: .other
            }
    }

    /// The largest number; larger ones are clipped, because no image has such a side.
    private static let largest = 10_000_000.0

    /// The integer value.
    ///
    /// Texts are rounded half up and lose their sign; numbers are truncated. An empty text is 0.
    var whole: Int? {
        switch self {
        case .text(let text):
            return Self.decimal(text.string).map { Int(min(abs($0) + 0.5, Self.largest).rounded(.down)) }
        case .number(let number): return Int(max(-Self.largest, min(number, Self.largest)))
        case .flag, .other: return nil
        }
    }

    /// The number; one in a text loses its sign.
    var decimal: Double? {
        switch self {
        case .text(let text): Self.decimal(text.string).map { min(abs($0), Self.largest) }
        case .number(let number): max(-Self.largest, min(number, Self.largest))
        case .flag, .other: nil
        }
    }

    /// Reads a Boolean in Go's spellings; an empty text is false.
    var flag: Bool? {
        switch self {
        case .flag(let flag): flag
        case .text("1"), .text("t"), .text("T"), .text("TRUE"), .text("true"), .text("True"): true
        case .text("0"), .text("f"), .text("F"), .text("FALSE"), .text("false"), .text("False"), .text(""): false
        case .text, .number, .other: nil
        }
    }

    var text: ExactText? { if case .text(let text) = self { text } else { nil } }

    /// Reads a finite number in Go's syntax; an empty text is 0.
    private static func decimal(_ text: String) -> Double? {
        if text.isEmpty { return 0 }
        guard text.utf8.count <= 32, let number = Double(text), number.isFinite else { return nil }
        return number
    }
}

extension ImaginaryValue {
    /// Reads `R,G,B` in decimal, where values above 255 are clipped and invalid numbers count as 0.
    static func components(_ text: String) -> [UInt8] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { member in
            let digits = member.utf8.drop { $0 == 0x20 }.prefix { $0 != 0x20 }
            guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return 0 }
            return UInt8(clamping: Int(String(decoding: digits.prefix(9), as: UTF8.self)) ?? 255)
        }
    }

    static func ratio(_ text: String) -> PixelSize? {
        let sides = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, let width = ParameterGrammar.integer(sides[0], in: 1...100_000),
            let height = ParameterGrammar.integer(sides[1], in: 1...100_000)
        else { return nil }
        return PixelSize(width: width, height: height)
    }
}
