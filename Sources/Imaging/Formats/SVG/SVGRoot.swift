import Recipes
import Text

struct SVGRoot {
    private var attributes: [(name: [UInt8], value: [UInt8])] = []

    /// Maximum bytes before the root element, and of its start tag.
    static let maximum = 1 << 16

    static func begins(_ bytes: RawSpan) -> Bool {
        var scanner = SVGScanner(bytes, maximum: maximum)
        return scanner.findRoot(bytes)
    }

    init?(_ bytes: RawSpan) {
        var scanner = SVGScanner(bytes, maximum: Self.maximum)
        guard scanner.findRoot(bytes) else { return nil }
        scanner.end = min(bytes.byteCount, scanner.offset + Self.maximum)
        while true {
            scanner.skipSpace(bytes)
            guard let byte = scanner.peek(bytes) else { return nil }
            if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") { return }
            guard let attribute = scanner.attribute(bytes) else { return nil }
            attributes.append(attribute)
        }
    }

    private func value(_ name: StaticString) -> String? {
        let bytes = unsafe Array(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        return attributes.first { $0.name == bytes }.map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// Returns a length in CSS pixels (96 per inch); nil if it is relative to the image's container.
    func length(_ name: StaticString) -> Double? {
        guard let value = value(name), let (number, unit) = Self.number(value) else { return nil }
        let units: [ArraySlice<UInt8>: Double] = [
            [][...]: 1, Array("px".utf8)[...]: 1, Array("pt".utf8)[...]: 96 / 72.0, Array("pc".utf8)[...]: 16,
            Array("in".utf8)[...]: 96, Array("cm".utf8)[...]: 96 / 2.54, Array("mm".utf8)[...]: 96 / 25.4,
            Array("q".utf8)[...]: 96 / 101.6, Array("em".utf8)[...]: 16, Array("rem".utf8)[...]: 16,
            Array("ex".utf8)[...]: 8, Array("ch".utf8)[...]: 8,
        ]
        return units[unit].map { number * $0 }
    }

    var viewBox: (width: Double, height: Double)? {
        guard let value = value("viewBox") else { return nil }
        let fields = value.utf8.split { $0 == UInt8(ascii: ",") || $0 <= 0x20 }
        let numbers = fields.compactMap { Double(Substring($0)) }
        guard fields.count == 4, numbers.count == 4, numbers[2] > 0, numbers[3] > 0, numbers.allSatisfy(\.isFinite)
        else {
            return nil
        }
        return (numbers[2], numbers[3])
    }

    private static func number(_ text: String) -> (Double, ArraySlice<UInt8>)? {
        let bytes = Array(text.utf8).filter { $0 > 0x20 }
        // An exponent has digits; an `e` without digits begins a unit.
        var end = 0
        func isDigit(_ index: Int) -> Bool { bytes.indices ~= index && bytes[index].isASCIIDigit }
        func isSign(_ index: Int) -> Bool { bytes.indices ~= index && (bytes[index] == 0x2B || bytes[index] == 0x2D) }
        if isSign(end) { end += 1 }
        while isDigit(end) || bytes.indices ~= end && bytes[end] == UInt8(ascii: ".") { end += 1 }
        if bytes.indices ~= end, bytes[end] | 0x20 == UInt8(ascii: "e"),
            isDigit(end + 1) || isSign(end + 1) && isDigit(end + 2)
        {
            end += 2
            while isDigit(end) { end += 1 }
        }
        guard let number = Double(String(decoding: bytes[..<end], as: UTF8.self)), number.isFinite else { return nil }
        return (number, Array(bytes[end...].map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 })[...])
    }
}
