import Recipes

/// Rights in properties of Dublin Core, Photoshop, XMP Rights, PLUS, and the IPTC extension.
enum XMPRights {
    private struct Namespace: Equatable {
        let prefix: String
        let uri: String

        static let dublinCore = Namespace(prefix: "dc", uri: "http://purl.org/dc/elements/1.1/")
        static let photoshop = Namespace(prefix: "photoshop", uri: "http://ns.adobe.com/photoshop/1.0/")
        static let rights = Namespace(prefix: "xmpRights", uri: "http://ns.adobe.com/xap/1.0/rights/")
        static let plus = Namespace(prefix: "plus", uri: "http://ns.useplus.org/ldf/xmp/1.0/")
        static let iptc = Namespace(prefix: "Iptc4xmpExt", uri: "http://iptc.org/std/Iptc4xmpExt/2008-02-29/")
    }

    private struct Row {
        let field: SourceRights.Field
        let namespace: Namespace
        let name: StaticString
        /// The RDF list type: of people, of texts by language, or nil for a plain value.
        var list: String?
    }

    private static let rows = [
        Row(field: .creator, namespace: .dublinCore, name: "creator", list: "Seq"),
        Row(field: .copyright, namespace: .dublinCore, name: "rights", list: "Alt"),
        Row(field: .credit, namespace: .photoshop, name: "Credit"),
        Row(field: .usageTerms, namespace: .rights, name: "UsageTerms", list: "Alt"),
        Row(field: .webStatement, namespace: .rights, name: "WebStatement"),
        Row(field: .licensor, namespace: .plus, name: "LicensorURL"),
        Row(field: .digitalSourceType, namespace: .iptc, name: "DigitalSourceType"),
        Row(field: .aiSystem, namespace: .iptc, name: "AISystemUsed"),
        Row(field: .aiPrompt, namespace: .iptc, name: "AIPromptInformation"),
    ]

    static func mayBe(in bytes: RawSpan, at range: Range<Int>) -> Bool {
        rows.contains { bytes.contains($0.name, in: range) } || bytes.contains("HasExtendedXMP", in: range)
    }

    static func add(_ packet: XMPPacket, to rights: inout SourceRights) {
        for row in rows {
            let values = packet.values("\(row.name)", of: row.namespace.uri).map(\.resolvingReferences)
            // The first of several languages is the default.
            let text = row.list == "Seq" ? Array(values.prefix(16).joined(separator: Array(", ".utf8))) : values.first
            if let text { rights.add(row.field, text: text) }
        }
    }

    static func description(of rights: SourceRights) -> String {
        let present = rows.filter { rights[$0.field] != nil }
        let namespaces = present.map(\.namespace).reduce(into: [Namespace]()) { distinct, namespace in
            if !distinct.contains(namespace) { distinct.append(namespace) }
        }.map { " xmlns:\($0.prefix)=\"\($0.uri)\"" }.joined()
        let elements = present.map { row -> String in
            let text = escaped(rights[row.field] ?? "")
            let name = "\(row.namespace.prefix):\(row.name)"
            let language = row.list == "Alt" ? " xml:lang=\"x-default\"" : ""
            let value = row.list.map { "<rdf:\($0)><rdf:li\(language)>\(text)</rdf:li></rdf:\($0)>" } ?? text
            guard row.field == .licensor else { return "<\(name)>\(value)</\(name)>" }
            return "<plus:Licensor><rdf:Seq><rdf:li rdf:parseType=\"Resource\"><\(name)>\(value)</\(name)></rdf:li>"
                + "</rdf:Seq></plus:Licensor>"
        }
        return "<rdf:Description rdf:about=\"\"\(namespaces)>\(elements.joined())</rdf:Description>"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}

extension SourceRights {
    var packet: [UInt8] { XMPPacket.file([XMPRights.description(of: self)]) }
}

extension XMPPacket {
    static func file(_ descriptions: [String]) -> [UInt8] {
        Array(
            ("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
                + descriptions.joined() + "</rdf:RDF></x:xmpmeta>").utf8)
    }
}

extension [UInt8] {
    /// Resolves XML's five entities and numeric references; leaves others unchanged.
    fileprivate var resolvingReferences: [UInt8] {
        guard contains(UInt8(ascii: "&")) else { return self }
        var result: [UInt8] = []
        var rest = self[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += rest[..<start]
            guard let end = rest[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")),
                let scalar = Self.scalar(String(decoding: rest[start + 1..<end], as: UTF8.self))
            else {
                result.append(rest[start])
                rest = rest[(start + 1)...]
                continue
            }
            result += scalar.utf8
            rest = rest[(end + 1)...]
        }
        return result + rest
    }

    private static func scalar(_ name: String) -> UnicodeScalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let isHexadecimal = name.hasPrefix("#x")
            guard name.hasPrefix("#") else { return nil }
            return UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10).flatMap(
                UnicodeScalar.init)
        }
    }
}
