package import Text

/// Parses JSON (RFC 8259) or JSON5; rejects duplicate members of an object.
package struct JSONReader {
    package enum Dialect: Sendable {
        case strict
        /// Text from people: comments, trailing commas, and less strict names and numbers.
        case json5
    }

    package struct Failure: Error, Equatable {
        package let reason: String
        /// The offset in bytes.
        package let offset: Int
    }

    /// The offsets of a member's name and value in bytes.
    package struct Position: Equatable, Sendable {
        package let name: Int
        package let value: Int
    }

    let bytes: [UInt8]
    let dialect: Dialect
    var position = 0
    private var path: [String] = []
    private var positions: [ExactText: Position] = [:]
    private var recordsPositions = false

    private static let maximumDepth = 32

    private init(_ bytes: [UInt8], dialect: Dialect) {
        self.bytes = bytes
        self.dialect = dialect
    }

    package static func value(in bytes: [UInt8], dialect: Dialect = .strict) throws(Failure) -> JSONValue {
        var reader = JSONReader(bytes, dialect: dialect)
        let value = try reader.value(depth: 0)
        try reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.failure("unexpected text after the value") }
        return value
    }

    /// Parses the first value, and ignores the rest of the text.
    package static func firstValue(in bytes: [UInt8]) throws(Failure) -> JSONValue {
        var reader = JSONReader(bytes, dialect: .strict)
        return try reader.value(depth: 0)
    }

    /// Returns the positions of members outside arrays by their dotted paths, such as `origins.photos.url`.
    package static func positions(
        in bytes: [UInt8], dialect: Dialect = .strict
    ) throws(Failure) -> [ExactText: Position] {
        var reader = JSONReader(bytes, dialect: dialect)
        reader.recordsPositions = true
        _ = try reader.value(depth: 0)
        return reader.positions
    }

    /// Returns the offset of the value, after whitespace and comments.
    package static func start(of bytes: [UInt8], dialect: Dialect = .strict) throws(Failure) -> Int {
        var reader = JSONReader(bytes, dialect: dialect)
        try reader.skipSpace()
        return reader.position
    }

    private mutating func value(depth: Int) throws(Failure) -> JSONValue {
        try skipSpace()
        guard let byte = peek else { throw failure("expected a value before the end of the text") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "'") where dialect == .json5: return .string(try string())
        default:
            for (word, value) in [("true", JSONValue.bool(true)), ("false", .bool(false)), ("null", .null)]
            where take(word: word) {
                return value
            }
            guard startsNumber(byte) else { throw failure("expected a value") }
            return try number()
        }
    }

    private mutating func object(depth: Int) throws(Failure) -> JSONValue {
        guard depth < Self.maximumDepth else { throw failure("the values are nested too deep") }
        position += 1
        var members: [(String, JSONValue)] = []
        var names: Set<ExactText> = []
        try skipSpace()
        if take("}") { return .object([]) }
        while true {
            try skipSpace()
            let start = position
            let name = try memberName()
            guard names.insert(ExactText(name)).inserted else {
                throw Failure(reason: "a duplicate member", offset: start)
            }
            try skipSpace()
            guard take(":") else { throw failure("expected a colon") }
            if recordsPositions {
                path.append(name)
                try skipSpace()
                positions[ExactText(path.joined(separator: "."))] = Position(name: start, value: position)
            }
            members.append((name, try value(depth: depth + 1)))
            if recordsPositions { path.removeLast() }
            try skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw failure("expected a comma or the end of the object") }
            if try isAtLooseEnd("}") { return .object(members) }
        }
    }

    private mutating func array(depth: Int) throws(Failure) -> JSONValue {
        guard depth < Self.maximumDepth else { throw failure("the values are nested too deep") }
        position += 1
        var elements: [JSONValue] = []
        try skipSpace()
        if take("]") { return .array([]) }
        let recordsPositionsAround = recordsPositions
        recordsPositions = false
        defer { recordsPositions = recordsPositionsAround }
        while true {
            elements.append(try value(depth: depth + 1))
            try skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw failure("expected a comma or the end of the array") }
            if try isAtLooseEnd("]") { return .array(elements) }
        }
    }

    private mutating func memberName() throws(Failure) -> String {
        switch peek {
        case UInt8(ascii: "\""): return try string()
        case UInt8(ascii: "'") where dialect == .json5: return try string()
        default:
            guard dialect == .json5, let name = try identifier() else {
                throw failure("expected a member name")
            }
            return name
        }
    }

    /// Whether the comma just read was a trailing one, which JSON5 allows; skips the end.
    private mutating func isAtLooseEnd(_ end: Unicode.Scalar) throws(Failure) -> Bool {
        guard dialect == .json5 else { return false }
        try skipSpace()
        return take(end)
    }

    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func take(word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    func failure(_ reason: String) -> Failure { Failure(reason: reason, offset: position) }
}

extension JSONReader {
    mutating func skipSpace() throws(Failure) {
        while let byte = peek {
            switch byte {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            case _ where dialect == .strict: return
            case 0x0b, 0x0c: position += 1
            case UInt8(ascii: "/"): try skipComment()
            case 0x80...:
                guard let (scalar, length) = scalar(at: position), Self.isSpace(scalar) else { return }
                position += length
            default: return
            }
        }
    }

    private mutating func skipComment() throws(Failure) {
        let start = position
        if take(word: "//") {
            while let byte = peek, byte != 0x0a, byte != 0x0d { position += 1 }
        } else if take(word: "/*") {
            while !take(word: "*/") {
                guard peek != nil else { throw Failure(reason: "an unterminated comment", offset: start) }
                position += 1
            }
        } else {
            throw failure("expected a value")
        }
    }

    /// Whether the scalar is a space, including the byte order mark and line and paragraph separators.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
        default: scalar == "\u{feff}"
        }
    }
}
