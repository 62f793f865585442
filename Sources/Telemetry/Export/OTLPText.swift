import JSON

/// Common to all OTLP documents, in their JSON form (OTLP specification, "JSON Protobuf Encoding").
enum OTLPText {
    static func append(_ attributes: Span.Attributes, to text: inout [UInt8]) {
        text.append("[")
        for (index, (name, value)) in attributes.enumerated() {
            text.append(index > 0 ? ",{\"key\":" : "{\"key\":")
            JSONText.appendString(name, to: &text)
            text.append(",\"value\":{")
            switch value {
            case .string(let string):
                text.append("\"stringValue\":")
                JSONText.appendString(string, limit: LogFormat.maximumFieldLength, to: &text)
            case .int(let number): text.append("\"intValue\":\"\(number)\"")
            case .double(let number): text.append("\"doubleValue\":\(number.isFinite ? number : 0)")
            case .bool(let flag): text.append("\"boolValue\":\(flag)")
            }
            text.append("}}")
        }
        text.append("]")
    }

    /// One resource and one scope.
    ///
    /// - Parameters:
    ///   - signal: `Spans` or `Metrics`, the prefix or suffix of the member names.
    ///   - body: Writes the members of the scope.
    static func document(of signal: String, resource: OTLPResource, _ body: (inout [UInt8]) -> Void) -> [UInt8] {
        var text: [UInt8] = []
        text.append("{\"resource\(signal)\":[{\"resource\":{\"attributes\":")
        append(resource.attributes, to: &text)
        text.append("},\"scope\(signal)\":[{\"scope\":{\"name\":\"alula\",\"version\":")
        JSONText.appendString(resource.version, to: &text)
        text.append("},\"\(signal.lowercased())\":[")
        body(&text)
        text.append("]}]}]}")
        return text
    }
}

/// The attributes of the service (OpenTelemetry, "Resource").
package struct OTLPResource: Sendable {
    let attributes: Span.Attributes
    let version: String

    package init(_ attributes: Span.Attributes, version: String) {
        self.attributes = attributes
        self.version = version
    }
}

extension [UInt8] {
    mutating func append(_ text: String) { append(contentsOf: text.utf8) }
}
