struct SVGScanner {
    var offset = 0
    var end: Int
    private(set) var root = 0
    private(set) var references: [SVGReference] = []
    private var parameters: Set<[UInt8]> = []

    init(_ bytes: RawSpan, maximum: Int) {
        offset = bytes.hasBytes([0xEF, 0xBB, 0xBF], at: 0) ? 3 : 0
        end = min(bytes.byteCount, maximum)
    }

    func peek(_ bytes: RawSpan) -> UInt8? {
        offset < end ? unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) : nil
    }

    mutating func skipSpace(_ bytes: RawSpan) {
        while let byte = peek(bytes), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { offset += 1 }
    }

    /// Skips past the name of the root element; returns false if it is not `svg`.
    mutating func findRoot(_ bytes: RawSpan) -> Bool {
        while true {
            skipSpace(bytes)
            guard peek(bytes) == UInt8(ascii: "<") else { return false }
            let isSkipped =
                if bytes.hasText("<?", at: offset) {
                    skip(bytes, to: "?>")
                } else if bytes.hasText("<!--", at: offset) {
                    skip(bytes, to: "-->")
                } else if bytes.hasText("<!DOCTYPE", at: offset) {
                    skipType(bytes)
                } else {
                    false
                }
            if isSkipped { continue }
            if bytes.hasText("<!", at: offset) || bytes.hasText("<?", at: offset) { return false }
            root = offset
            offset += 1
            let name = name(bytes)
            return name == Array("svg".utf8) || name.suffix(4) == Array(":svg".utf8)[...]
        }
    }

    private mutating func skip(_ bytes: RawSpan, to text: StaticString) -> Bool {
        while offset <= end - text.utf8CodeUnitCount {
            if bytes.hasText(text, at: offset) {
                offset += text.utf8CodeUnitCount
                return true
            }
            offset += 1
        }
        offset = end
        return false
    }

    private mutating func skipType(_ bytes: RawSpan) -> Bool {
        var isInside = false
        while let byte = peek(bytes) {
            if isInside, recordReference(bytes) { continue }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                offset += 1
                while let next = peek(bytes), next != byte { offset += 1 }
            } else if bytes.hasText("<!--", at: offset) {
                guard skip(bytes, to: "-->") else { return false }
                continue
            } else if byte == UInt8(ascii: "[") {
                isInside = true
            } else if byte == UInt8(ascii: "]") {
                isInside = false
            } else if byte == UInt8(ascii: ">"), !isInside {
                offset += 1
                return true
            }
            offset += 1
        }
        return false
    }

    /// Records and skips the declaration of an external entity or the use of an external parameter entity.
    ///
    /// Returns false for anything else, without moving. If a declaration does not end, moves to the end of the text.
    private mutating func recordReference(_ bytes: RawSpan) -> Bool {
        let start = offset
        if peek(bytes) == UInt8(ascii: "%") {
            offset += 1
            let name = name(bytes, endingAt: "%;]<>'\"")
            if peek(bytes) == UInt8(ascii: ";"), parameters.contains(name) {
                offset += 1
                references.append(SVGReference(range: start..<offset, text: ""))
                return true
            }
        } else if bytes.hasText("<!ENTITY", at: offset), let declaration = declaration(bytes) {
            if declaration.isParameter { parameters.insert(declaration.name) }
            let range = declaration.isParameter ? start..<offset : declaration.value..<offset - 1
            references.append(SVGReference(range: range, text: declaration.isParameter ? "" : "\"\""))
            return true
        }
        if offset >= end { return true }
        offset = start
        return false
    }

    /// Reads the declaration of an external entity; nil for an internal one.
    private mutating func declaration(_ bytes: RawSpan) -> (name: [UInt8], isParameter: Bool, value: Int)? {
        offset += "<!ENTITY".utf8.count
        skipSpace(bytes)
        let isParameter = peek(bytes) == UInt8(ascii: "%")
        if isParameter { offset += 1 }
        skipSpace(bytes)
        let name = name(bytes, endingAt: "%;]<>'\"")
        skipSpace(bytes)
        let value = offset
        guard !name.isEmpty, bytes.hasText("SYSTEM", at: value) || bytes.hasText("PUBLIC", at: value) else {
            return nil
        }
        while let byte = peek(bytes), byte != UInt8(ascii: ">") {
            offset += 1
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else { continue }
            while let next = peek(bytes), next != byte { offset += 1 }
            offset += 1
        }
        guard peek(bytes) != nil else { return nil }
        offset += 1
        return (name, isParameter, value)
    }

    private mutating func name(_ bytes: RawSpan, endingAt ends: String = "/>='\"<") -> [UInt8] {
        var name: [UInt8] = []
        while let byte = peek(bytes), byte > 0x20, !ends.utf8.contains(byte) {
            name.append(byte)
            offset += 1
        }
        return name
    }

    mutating func attribute(_ bytes: RawSpan) -> (name: [UInt8], value: [UInt8])? {
        let name = name(bytes)
        skipSpace(bytes)
        guard !name.isEmpty, peek(bytes) == UInt8(ascii: "=") else { return nil }
        offset += 1
        skipSpace(bytes)
        guard let quote = peek(bytes), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        offset += 1
        var value: [UInt8] = []
        while let byte = peek(bytes), byte != quote {
            value.append(byte)
            offset += 1
        }
        guard peek(bytes) == quote else { return nil }
        offset += 1
        return (name, value)
    }
}

struct SVGReference {
    let range: Range<Int>
    let text: String
}
