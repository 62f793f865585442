import Text

package enum JSONText {
    private static let hexadecimal = Array("0123456789abcdef".utf8)

    /// Appends a text in quotes.
    ///
    /// Escapes quotes, backslashes, and all characters that are invisible or affect how others are displayed: control
    /// characters (including DEL and C1), line separators, and formatting characters, above all bidirectional ones.
    ///
    /// - Parameter limit: Maximum bytes; a longer text is truncated at a character boundary.
    package static func appendString(_ text: String, limit: Int = .max, to buffer: inout [UInt8]) {
        buffer.append(UInt8(ascii: "\""))
        defer { buffer.append(UInt8(ascii: "\"")) }
        if text.utf8.count <= limit, text.utf8.allSatisfy(isPlain) { return buffer.append(contentsOf: text.utf8) }
        var written = 0
        for scalar in text.unicodeScalars {
            let width = UTF8.width(scalar)
            guard written + width <= limit else { break }
            written += width
            switch scalar.value {
            case 0x22, 0x5c:
                buffer.append(UInt8(ascii: "\\"))
                buffer.append(UInt8(scalar.value))
            case 0..<0x20, 0x7f: appendEscape(UInt16(scalar.value), to: &buffer)
            case 0..<0x80: buffer.append(UInt8(scalar.value))
            default:
                if isInvisible(scalar) {
                    UTF16.encode(scalar)?.forEach { appendEscape($0, to: &buffer) }
                } else {
                    UTF8.encode(scalar)?.forEach { buffer.append($0) }
                }
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isPrintableASCII && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func appendEscape(_ unit: UInt16, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: "\\u".utf8)
        for shift in [12, 8, 4, 0] { buffer.append(hexadecimal[Int(unit >> UInt16(shift)) & 15]) }
    }

    /// An invisible character could hide text or reorder the text around it.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        default: false
        }
    }

    package static func string(_ text: String) -> String {
        var buffer: [UInt8] = []
        appendString(text, to: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }
}
