import Recipes
import Text

package enum ParameterGrammar {
    package static func integer(_ text: some StringProtocol, in range: ClosedRange<Int>) -> Int? {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= 15, bytes.allSatisfy(\.isASCIIDigit),
            bytes.count == 1 || bytes.first != zero, let number = Int(text), range.contains(number)
        else { return nil }
        return number
    }

    /// Reads a number with at most three decimals: `1.5` is 1500.
    static func thousandths(_ text: String, in range: ClosedRange<Int>) -> Int? {
        fraction(text, decimals: 3, in: range)
    }

    /// Reads a fraction as a whole number of units of the last decimal.
    package static func fraction(_ text: some StringProtocol, decimals: Int, in range: ClosedRange<Int>) -> Int? {
        let digits = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = digits.first, let whole = integer(first, in: 0...range.upperBound) else { return nil }
        var value = whole
        var missingDecimals = decimals
        if digits.count == 2 {
            guard (1...decimals).contains(digits[1].utf8.count), digits[1].utf8.allSatisfy(\.isASCIIDigit) else {
                return nil
            }
            for digit in digits[1].utf8 { value = 10 * value + Int(digit - zero) }
            missingDecimals -= digits[1].utf8.count
        }
        for _ in 0..<missingDecimals { value *= 10 }
        return range.contains(value) ? value : nil
    }

    /// Reads at most 24 bytes without an exponent, such as `-1.5` or `.25`.
    static func decimal(_ text: some StringProtocol) -> Double? {
        guard text.utf8.count <= 24, text.utf8.allSatisfy({ $0.isASCIIDigit || ".-".utf8.contains($0) }) else {
            return nil
        }
        return Double(text)
    }

    static func flag(_ text: String) -> Bool? {
        switch text {
        case "0": false
        case "1": true
        default: nil
        }
    }

    static func flag(_ text: String, parameter name: String) throws(APIError) -> Bool {
        guard let isOn = flag(text) else { throw .badChoice(name, allowed: ["0", "1"]) }
        return isOn
    }

    package static func choice<Value: RawRepresentable & CaseIterable>(
        _ text: String, parameter name: String
    ) throws(APIError) -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: text) else { throw .badChoice(name, allowed: Value.allCases.map(\.rawValue)) }
        return value
    }

    /// Reads a time in Unix seconds.
    package static func expires(_ text: String, parameter name: String) throws(APIError) -> Int {
        guard let seconds = integer(text, in: 0...999_999_999_999) else {
            throw .badParameter(name, "Must be a Unix time in seconds.")
        }
        return seconds
    }

    static func gravity(_ text: String) -> Gravity? { gravities.first { $0.name == text }?.gravity }

    static func name(of gravity: Gravity) -> String? { gravities.first { $0.gravity == gravity }?.name }

    static var gravityNames: [String] { gravities.map(\.name) }

    static var positionNames: [String] {
        gravities.filter { ![.attention, .entropy, .face].contains($0.gravity) }.map(\.name)
    }

    static let formatNames = ["auto"] + ImageFormat.written.map(\.rawValue)

    /// Reads the name of a format; nil for `auto`.
    static func format(_ text: String, parameter name: String) throws(APIError) -> ImageFormat? {
        if text == "auto" { return nil }
        guard let format = ImageFormat(name: text), format.isWritten else {
            throw .badChoice(name, allowed: formatNames)
        }
        return format
    }

    /// Returns the source as received, neither empty nor too long; does not check whether it is a URL.
    package static func source(_ text: String) throws(APIError) -> String {
        guard !text.isEmpty else { throw .badURL("The source's URL is empty.") }
        guard text.utf8.count <= longestSource else {
            throw .badURL("The source's URL is longer than \(longestSource) bytes.")
        }
        return text
    }

    /// The maximum length in bytes after percent-decoding.
    static let longestSource = 2_048

    private static let zero = UInt8(ascii: "0")

    private static let gravities: [(name: String, gravity: Gravity)] = [
        ("center", .center), ("top", .top), ("top-right", .topRight), ("right", .right),
        ("bottom-right", .bottomRight), ("bottom", .bottom), ("bottom-left", .bottomLeft), ("left", .left),
        ("top-left", .topLeft), ("attention", .attention), ("entropy", .entropy),
        ("face", .face),
    ]
}
