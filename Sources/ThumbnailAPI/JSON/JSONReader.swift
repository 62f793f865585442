/// Reads one JSON text (RFC 8259), and nothing that is not one: no comments, no trailing commas, no member twice.
struct JSONReader {
    /// What is wrong, and where.
    struct Failure: Error, Equatable {
        /// For whoever wrote the text.
        let reason: String
        /// Bytes before the place.
        let offset: Int
    }

    private let bytes: [UInt8]
    private var place = 0

    /// Arrays and objects inside each other.
    private static let deepest = 32

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The value that `bytes` are the text of.
    static func value(in bytes: [UInt8]) throws(Failure) -> JSONValue {
        var reader = JSONReader(bytes)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.place == bytes.count else { throw reader.failure("something follows the value") }
        return value
    }

    private mutating func value(depth: Int) throws(Failure) -> JSONValue {
        skipSpace()
        guard let byte = peek else { throw failure("the text ends where a value should begin") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            for (word, value) in [("true", JSONValue.bool(true)), ("false", .bool(false)), ("null", .null)]
            where bytes[place...].starts(with: word.utf8) {
                place += word.utf8.count
                return value
            }
            throw failure("a value should begin here")
        }
    }

    private mutating func object(depth: Int) throws(Failure) -> JSONValue {
        guard depth < Self.deepest else { throw failure("too many values inside each other") }
        place += 1
        var members: [(String, JSONValue)] = []
        var names: Set<String> = []
        skipSpace()
        if take("}") { return .object([]) }
        while true {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw failure("a member's name should begin here") }
            let start = place
            let name = try string()
            guard names.insert(name).inserted else { throw Failure(reason: "a member is there twice", offset: start) }
            skipSpace()
            guard take(":") else { throw failure("a colon is missing") }
            members.append((name, try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw failure("a comma or the object's end is missing") }
        }
    }

    private mutating func array(depth: Int) throws(Failure) -> JSONValue {
        guard depth < Self.deepest else { throw failure("too many values inside each other") }
        place += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array([]) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw failure("a comma or the array's end is missing") }
        }
    }

    private mutating func string() throws(Failure) -> String {
        let start = place
        place += 1
        var text: [UInt8] = []
        while let byte = peek {
            place += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw Failure(reason: "the text is not UTF-8", offset: start)
                }
                return string
            case UInt8(ascii: "\\"): text += try escape()
            case ..<0x20: throw failure("a control character in a text")
            default: text.append(byte)
            }
        }
        throw Failure(reason: "a text has no end", offset: start)
    }

    private mutating func escape() throws(Failure) -> [UInt8] {
        guard let byte = peek else { throw failure("a text has no end") }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            let first = try unit()
            guard UTF16.isLeadSurrogate(first) else {
                guard let scalar = Unicode.Scalar(first) else { throw failure("half of a surrogate pair") }
                return Array(String(Character(scalar)).utf8)
            }
            guard take("\\"), take("u") else { throw failure("half of a surrogate pair") }
            let second = try unit()
            guard UTF16.isTrailSurrogate(second) else { throw failure("half of a surrogate pair") }
            return Array(String(decoding: [first, second], as: UTF16.self).utf8)
        default: throw failure("no such escape")
        }
    }

    private mutating func unit() throws(Failure) -> UInt16 {
        let digits = bytes[place..<min(place + 4, bytes.count)]
        guard digits.count == 4, digits.allSatisfy(Self.isHexadecimal),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits should stand here") }
        place += 4
        return unit
    }

    private mutating func number() throws(Failure) -> JSONValue {
        let start = place
        var isWhole = true
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") {
            isWhole = false
            try digits()
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isWhole, let number = Int(text) { return .int(number) }
        guard let number = Double(text), number.isFinite else {
            throw Failure(reason: "a number out of range", offset: start)
        }
        return .double(number)
    }

    private mutating func digits() throws(Failure) {
        let start = place
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        guard place > start else { throw failure("a digit is missing") }
    }

    private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { place += 1 }
    }

    private func failure(_ reason: String) -> Failure { Failure(reason: reason, offset: place) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
