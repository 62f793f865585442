import Crypto
import Recipes
import Text

struct ImgproxyOption: Hashable, Sendable {
    let name: String
    let arguments: [ArraySlice<UInt8>]

    var quotedName: String { String(decoding: name.utf8.prefix(APIError.longestQuotedName), as: UTF8.self) }

    /// Returns nil for a segment without a separator, because it is not an option.
    init?(_ segment: ArraySlice<UInt8>, separator: [UInt8]) {
        var fields: [ArraySlice<UInt8>] = []
        var rest = segment
        while let start = rest.firstRange(of: separator) {
            fields.append(rest[..<start.lowerBound])
            rest = rest[start.upperBound...]
        }
        guard let name = fields.first else { return nil }
        self.name = String(decoding: name, as: UTF8.self)
        arguments = fields.dropFirst() + [rest]
    }
}

extension ArraySlice<UInt8> {
    fileprivate func firstRange(of separator: [UInt8]) -> Range<Int>? {
        guard let first = separator.first else { return nil }
        var index = startIndex
        while let start = self[index...].firstIndex(of: first) {
            if self[start...].starts(with: separator) { return start..<start + separator.count }
            index = start + 1
        }
        return nil
    }
}

struct ImgproxyArguments {
    private let option: ImgproxyOption

    init(_ option: ImgproxyOption, maximum: Int) throws(APIError) {
        self.option = option
        guard option.arguments.count <= maximum else { throw fault("It has at most \(maximum) arguments.") }
    }

    var count: Int { option.arguments.count }

    func has(_ index: Int) -> Bool { option.arguments.indices.contains(index) && !option.arguments[index].isEmpty }

    func text(_ index: Int) -> String { String(decoding: option.arguments[index], as: UTF8.self) }

    func fault(_ reason: String) -> APIError { .badParameter(option.quotedName, reason) }

    func integer(_ index: Int, in range: ClosedRange<Int>) throws(APIError) -> Int {
        let text = option.arguments[index]
        let digits = text.first == UInt8(ascii: "+") || text.first == UInt8(ascii: "-") ? text.dropFirst() : text
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        let isNumber = !digits.isEmpty && significant.allSatisfy(\.isASCIIDigit)
        if isNumber, significant.count <= 16 {
            let magnitude = significant.reduce(0) { 10 * $0 + Int($1 - 0x30) }
            let value = text.first == UInt8(ascii: "-") ? -magnitude : magnitude
            if range.contains(value) { return value }
        }
        throw fault("Must be a whole number from \(range.lowerBound) to \(range.upperBound).")
    }

    /// Reads a number with an optional sign, fraction and exponent.
    func number(_ index: Int, in range: ClosedRange<Double>) throws(APIError) -> Double {
        let text = option.arguments[index]
        if (1...Self.longestNumber).contains(text.count), text.allSatisfy(Self.isNumeric),
            let value = Double(String(decoding: text, as: UTF8.self)), range.contains(value)
        {
            return value
        }
        throw fault("Must be a number from \(range.lowerBound) to \(range.upperBound).")
    }

    func factor(_ index: Int) throws(APIError) -> Double { try number(index, in: Self.smallestFactor...Self.largest) }

    func flag(_ index: Int) -> Bool {
        ["1", "t", "T", "true", "True", "TRUE"].contains { option.arguments[index].elementsEqual($0.utf8) }
    }

    func color(_ index: Int) throws(APIError) -> Color {
        let argument = option.arguments[index]
        let mark = ["%23", "#"].first { argument.starts(with: $0.utf8) }
        let digits = argument.dropFirst(mark?.utf8.count ?? 0)
        let pairs = digits.count == 3 ? digits.flatMap { [$0, $0] } : Array(digits)
        guard pairs.count == 6, let bytes = Hexadecimal.decode(String(decoding: pairs, as: UTF8.self)) else {
            throw fault("Must be a color such as fa0 or ffaa00.")
        }
        return Color(red: bytes[0], green: bytes[1], blue: bytes[2])
    }

    func choice<Value: CaseIterable & RawRepresentable<String>>(_ index: Int) throws(APIError) -> Value {
        guard let value = Value(rawValue: text(index)) else {
            throw .badChoice(option.quotedName, allowed: Value.allCases.map(\.rawValue))
        }
        return value
    }

    func format(_ index: Int) throws(APIError) -> ImgproxyFormat {
        try ImgproxyFormat(named: text(index), in: option.quotedName)
    }

    /// Returns whether the arguments are `obj:face`, or `objw:face:WEIGHT`.
    func namesFaces(from start: Int) -> Bool {
        guard has(start + 1), text(start + 1) == "face" else { return false }
        let isWeighted = count == start + 3 && (try? number(start + 2, in: 0...Self.largest)) != nil
        return count == start + 2 ? ["obj", "objw"].contains(text(start)) : text(start) == "objw" && isWeighted
    }

    func kind(_ index: Int, of kinds: Set<ImgproxyGravity.Kind>) throws(APIError) -> ImgproxyGravity.Kind {
        let name = text(index)
        if let kind = ImgproxyGravity.Kind(rawValue: name), kinds.contains(kind) { return kind }
        if name == "obj" || name == "objw" {
            throw .unsupportedOption(option.quotedName, "Alula detects only faces, and only with faceDetection on.")
        }
        throw .badChoice(option.quotedName, allowed: kinds.map(\.rawValue).sorted())
    }
    static let largest = 1e9
    /// The smallest factor whose reciprocal does not exceed the largest number.
    private static let smallestFactor = 1e-9
    private static let longestNumber = 32

    private static func isNumeric(_ byte: UInt8) -> Bool { byte.isASCIIDigit || "+-.eE".utf8.contains(byte) }
}

extension Set<ImgproxyGravity.Kind> {
    private static let plain: Set = [
        .center, .north, .east, .south, .west, .northWest, .northEast, .southWest, .southEast,
    ]
    static let crop = plain.union([.smart, .focus])
    static let canvas = plain.union([.focus])
    static let watermark = plain.union([.tiles])
}
