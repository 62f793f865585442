package import Text

/// A JSON value; objects preserve the order of their members.
package indirect enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([(String, JSONValue)])

    /// The members of an object, unique in parsed values; nil for any other value.
    package var members: [ExactText: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return Dictionary(members.map { (ExactText($0.0), $0.1) }, uniquingKeysWith: { first, _ in first })
    }

    package var stringValue: String? { if case .string(let text) = self { text } else { nil } }

    package var intValue: Int? { if case .int(let number) = self { number } else { nil } }

    package var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    package var text: String {
        var buffer: [UInt8] = []
        append(to: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }

    private func append(to buffer: inout [UInt8]) {
        switch self {
        case .null: buffer.append(contentsOf: "null".utf8)
        case .bool(let flag): buffer.append(contentsOf: (flag ? "true" : "false").utf8)
        case .int(let number): buffer.append(contentsOf: String(number).utf8)
        case .double(let number): buffer.append(contentsOf: (number.isFinite ? "\(number)" : "null").utf8)
        case .string(let text): JSONText.appendString(text, to: &buffer)
        case .array(let elements):
            buffer.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { buffer.append(UInt8(ascii: ",")) }
                element.append(to: &buffer)
            }
            buffer.append(UInt8(ascii: "]"))
        case .object(let members):
            buffer.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { buffer.append(UInt8(ascii: ",")) }
                JSONText.appendString(member.0, to: &buffer)
                buffer.append(UInt8(ascii: ":"))
                member.1.append(to: &buffer)
            }
            buffer.append(UInt8(ascii: "}"))
        }
    }
}
