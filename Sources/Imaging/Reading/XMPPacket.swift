/// The attributes and simple elements of a packet (ISO 16684-1), in order, with their names as written.
///
/// Reads each byte once. Parses only the XML that packets need: no document types, and no character references.
struct XMPPacket {
    struct Property {
        let name: [UInt8]
        let value: [UInt8]
        let element: Int
    }

    private(set) var properties: [Property] = []
    private let text: [UInt8]
    private var offset = 0
    private var elements = 0
    private static let maximumProperties = 4_096

    init(_ bytes: RawSpan, at range: Range<Int>) { self.init(bytes.array(range)) }

    init(_ text: [UInt8]) {
        self.text = text
        var open: [UInt8]?
        while let start = text[offset...].firstIndex(of: UInt8(ascii: "<")), properties.count < Self.maximumProperties {
            let content = text[offset..<start].trimmed
            if let open, !content.isEmpty { add(open, value: content) }
            offset = start + 1
            switch peek {
            case UInt8(ascii: "!"), UInt8(ascii: "?"): skip(behind: UInt8(ascii: ">"))
            case UInt8(ascii: "/"):
                offset += 1
                if name() == open { open = nil }
                skip(behind: UInt8(ascii: ">"))
            default:
                elements += 1
                let name = name()
                // Items of a list belong to the property that contains the list.
                if readAttributes(of: name), !name.starts(with: "rdf:".utf8) { open = name }
            }
        }
    }

    func values(_ name: String, of space: String) -> [[UInt8]] {
        guard let prefix = prefix(of: space) else { return [] }
        let whole = prefix + Array(name.utf8)
        return properties.lazy.filter { $0.name == whole }.map(\.value)
    }

    /// Returns the prefix with its colon; nil if the packet does not declare the namespace.
    func prefix(of space: String) -> [UInt8]? {
        properties.first { $0.name.starts(with: "xmlns:".utf8) && $0.value.elementsEqual(space.utf8) }
            .map { $0.name.dropFirst("xmlns:".utf8.count) + [UInt8(ascii: ":")] }
    }

    private var peek: UInt8? { offset < text.count ? text[offset] : nil }

    private mutating func add(_ name: [UInt8], value: ArraySlice<UInt8>) {
        properties.append(Property(name: name, value: Array(value), element: elements))
    }

    private mutating func skip(behind byte: UInt8) {
        offset = (text[offset...].firstIndex(of: byte) ?? text.count - 1) + 1
    }

    private mutating func name() -> [UInt8] {
        let start = offset
        while let byte = peek, byte > 0x20, !"/>='\"<".utf8.contains(byte) { offset += 1 }
        return Array(text[start..<offset])
    }

    private mutating func skipSpace() { while let byte = peek, byte <= 0x20 { offset += 1 } }

    /// Reads attributes; returns false if the element has no content or the tag is damaged.
    private mutating func readAttributes(of element: [UInt8]) -> Bool {
        while properties.count < Self.maximumProperties {
            skipSpace()
            if peek == UInt8(ascii: ">") {
                offset += 1
                return true
            }
            let name = name()
            skipSpace()
            guard !name.isEmpty, peek == UInt8(ascii: "=") else { break }
            offset += 1
            skipSpace()
            guard let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
                let end = text[(offset + 1)...].firstIndex(of: quote)
            else { break }
            // A property may have its URI in an attribute.
            add(name.elementsEqual("rdf:resource".utf8) ? element : name, value: text[offset + 1..<end])
            offset = end + 1
        }
        skip(behind: UInt8(ascii: ">"))
        return false
    }
}

extension ArraySlice<UInt8> {
    fileprivate var trimmed: ArraySlice<UInt8> {
        guard let first = firstIndex(where: { $0 > 0x20 }), let last = lastIndex(where: { $0 > 0x20 }) else {
            return []
        }
        return self[first...last]
    }
}
