/// Writes JSON strings (RFC 8259 section 7).
package enum JSONText {
    private static let hexadecimal = Array("0123456789abcdef".utf8)

    /// Appends `text` quoted, with quotes, backslashes and control characters (DEL and C1 too) escaped.
    ///
    /// - Parameters:
    ///   - text: What to write.
    ///   - limit: Bytes of `text` to keep; a longer one is cut at a character's start.
    ///   - buffer: Where to append.
    package static func appendString(_ text: String, limit: Int = .max, to buffer: inout [UInt8]) {
        buffer.append(UInt8(ascii: "\""))
        var kept = 0
        for scalar in text.unicodeScalars {
            let width = UTF8.width(scalar)
            guard kept + width <= limit else { break }
            kept += width
            switch scalar.value {
            case 0x22, 0x5c:
                buffer.append(UInt8(ascii: "\\"))
                buffer.append(UInt8(scalar.value))
            case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029:
                buffer.append(contentsOf: "\\u".utf8)
                for shift in [12, 8, 4, 0] { buffer.append(hexadecimal[Int(scalar.value >> UInt32(shift)) & 15]) }
            case 0..<0x80: buffer.append(UInt8(scalar.value))
            default: buffer.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
            }
        }
        buffer.append(UInt8(ascii: "\""))
    }

    /// `text` as a JSON string with its quotes.
    package static func string(_ text: String) -> String {
        var buffer: [UInt8] = []
        appendString(text, to: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }
}
