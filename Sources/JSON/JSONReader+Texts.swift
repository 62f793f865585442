import Text

extension JSONReader {
    mutating func string() throws(Failure) -> String {
        let start = position
        let quote = bytes[position]
        position += 1
        var text: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case quote:
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw Failure(reason: "the string is not UTF-8", offset: start)
                }
                return string
            case UInt8(ascii: "\\"): text += try escape()
            case ..<0x20 where dialect == .strict || byte == 0x0a || byte == 0x0d:
                throw failure("a control character in a string")
            default: text.append(byte)
            }
        }
        throw Failure(reason: "an unterminated string", offset: start)
    }

    mutating func identifier() throws(Failure) -> String? {
        var name = ""
        while let byte = peek {
            if take("\\") {
                guard take("u"), let scalar = Unicode.Scalar(try unit()), isPart(scalar, of: name) else {
                    throw failure("an unknown escape")
                }
                name.unicodeScalars.append(scalar)
            } else {
                guard let (scalar, length) = byte < 0x80 ? (Unicode.Scalar(byte), 1) : scalar(at: position),
                    isPart(scalar, of: name)
                else { break }
                name.unicodeScalars.append(scalar)
                position += length
            }
        }
        return name.isEmpty ? nil : name
    }

    private func isPart(_ scalar: Unicode.Scalar, of name: String) -> Bool {
        if scalar == "$" || scalar == "_" { return true }
        return name.isEmpty ? scalar.properties.isIDStart : scalar.properties.isIDContinue
    }

    /// Decodes a scalar, and returns its length in bytes; nil if the bytes are not UTF-8.
    func scalar(at position: Int) -> (Unicode.Scalar, Int)? {
        var decoder = UTF8()
        var iterator = bytes[position..<min(position + 4, bytes.count)].makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
        return (scalar, UTF8.width(scalar))
    }

    private mutating func escape() throws(Failure) -> [UInt8] {
        guard let byte = peek else { throw failure("an unterminated string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try surrogates(first: unit())
        default:
            guard dialect == .json5 else { throw failure("an unknown escape") }
            return try looseEscape(byte)
        }
    }

    private mutating func looseEscape(_ byte: UInt8) throws(Failure) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "v"): return [0x0b]
        case UInt8(ascii: "x"): return Array(String(Character(Unicode.Scalar(UInt8(try hexadecimals(2))))).utf8)
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            let isFollowed = peek.map(\.isASCIIDigit) ?? false
            guard byte == UInt8(ascii: "0"), !isFollowed else { throw failure("an unknown escape") }
            return [0]
        // A line continuation.
        case 0x0d:
            _ = take("\n")
            return []
        case 0x0a: return []
        // U+2028 and U+2029 are line ends too.
        case 0xe2
        where bytes[position...].starts(with: [0x80, 0xa8]) || bytes[position...].starts(with: [0x80, 0xa9]):
            position += 2
            return []
        default: return [byte]
        }
    }

    private mutating func surrogates(first: UInt16) throws(Failure) -> [UInt8] {
        guard UTF16.isLeadSurrogate(first) else {
            guard let scalar = Unicode.Scalar(first) else { throw failure("an unpaired surrogate") }
            return Array(String(Character(scalar)).utf8)
        }
        guard take("\\"), take("u") else { throw failure("an unpaired surrogate") }
        let second = try unit()
        guard UTF16.isTrailSurrogate(second) else { throw failure("an unpaired surrogate") }
        return Array(String(decoding: [first, second], as: UTF16.self).utf8)
    }

    private mutating func unit() throws(Failure) -> UInt16 { UInt16(try hexadecimals(4)) }

    private mutating func hexadecimals(_ count: Int) throws(Failure) -> Int {
        let digits = bytes[position..<min(position + count, bytes.count)]
        guard digits.count == count, digits.allSatisfy(\.isHexadecimalDigit),
            let number = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("expected \(count) hexadecimal digits") }
        position += count
        return number
    }
}
