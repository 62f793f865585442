import Text

struct ThumborFilterText: Hashable, Sendable {
    let name: String
    let arguments: [String]
    let written: String
    static let maximum = 64

    /// The filter for logs: only the name if it draws a source.
    var logged: String {
        ["watermark", "image"].contains(name) || written.contains("://") ? "\(name)()" : written
    }

    static func list(_ text: String) throws(APIError) -> [ThumborFilterText] {
        let texts = split(Array(text.utf8)[...], separator: UInt8(ascii: ":"))
        guard texts.count <= maximum else { throw .badParameter("filters", "At most \(maximum) filters are allowed.") }
        return texts.map { ThumborFilterText($0) }
    }

    private init(_ text: ArraySlice<UInt8>) {
        written = String(decoding: text, as: UTF8.self)
        guard let open = text.firstIndex(of: UInt8(ascii: "(")), text.last == UInt8(ascii: ")") else {
            name = ""
            arguments = []
            return
        }
        name = String(decoding: text[..<open], as: UTF8.self)
        let inner = text[(open + 1)..<(text.endIndex - 1)]
        arguments =
            Self.trimmed(inner).isEmpty
            ? []
            : Self.split(inner, separator: UInt8(ascii: ",")).map {
                String(decoding: Self.trimmed($0), as: UTF8.self)
            }
    }

    private static func split(_ text: ArraySlice<UInt8>, separator: UInt8) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = text.startIndex
        var depth = 0
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            case separator where depth <= 0:
                pieces.append(text[start..<index])
                start = index + 1
            default: break
            }
        }
        pieces.append(text[start...])
        return pieces
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = text
        while rest.first == UInt8(ascii: " ") { rest.removeFirst() }
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }
        return rest
    }
}

struct ThumborArguments {
    private let texts: [String]

    init(_ filter: ThumborFilterText) { texts = filter.arguments }

    var count: Int { texts.count }

    /// Returns the text without quotes; nil if the argument is empty or missing.
    func text(_ index: Int) -> String? {
        guard texts.indices ~= index, !texts[index].isEmpty else { return nil }
        let text = texts[index]
        guard text.utf8.count > 2, text.utf8.first == UInt8(ascii: "'"), text.utf8.last == UInt8(ascii: "'") else {
            return text
        }
        return String(text.dropFirst().dropLast())
    }

    func whole(_ index: Int, maximum: Int = 1_000_000) -> Int? {
        text(index).flatMap { ThumborNumber.whole($0.utf8, maximum: .max) }.map { min($0, maximum) }
    }

    func signed(_ index: Int, maximum: Int = 1_000_000) -> Int? {
        text(index).flatMap { ThumborNumber.signed($0.utf8, maximum: .max) }.map { min(max($0, -maximum), maximum) }
    }

    func millionths(_ index: Int) -> Int? { text(index).flatMap { ThumborNumber.millionths($0.utf8) } }

    /// Reads `true`, `True`, `1`, or the opposite.
    func flag(_ index: Int) -> Bool? {
        switch text(index) {
        case "true", "True", "1": true
        case "false", "False", "0": false
        default: nil
        }
    }
}

enum ThumborNumber {
    /// Reads an unsigned number, clipped to the range of `Int`; nil above `maximum`.
    static func whole(_ text: some Collection<UInt8>, maximum: Int) -> Int? {
        guard !text.isEmpty else { return nil }
        var value = 0
        for byte in text {
            guard byte.isASCIIDigit else { return nil }
            value = min(value, (.max - 9) / 10) * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value <= maximum ? value : nil
    }

    static func signed(_ text: some Collection<UInt8>, maximum: Int) -> Int? {
        guard text.first == UInt8(ascii: "-") else { return whole(text, maximum: maximum) }
        return whole(text.dropFirst(), maximum: maximum).map { -$0 }
    }

    /// Reads a number with optional minus and decimals, within a billion, and truncates it to millionths.
    static func millionths(_ text: some Collection<UInt8>) -> Int? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = Array(isNegative ? text.dropFirst() : text.dropFirst(0))
        let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.endIndex
        let decimals = digits[min(point + 1, digits.endIndex)...]
        guard point > 0 || !decimals.isEmpty else { return nil }
        guard let number = point == 0 ? 0 : whole(digits[..<point], maximum: 1_000_000_000),
            decimals.allSatisfy(\.isASCIIDigit)
        else { return nil }
        var value = number * 1_000_000
        var unit = 100_000
        for digit in decimals.prefix(6) {
            value += Int(digit - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return isNegative ? -value : value
    }
}
