import JSON

/// Writes spans in OTLP's JSON form (opentelemetry-proto 1.0, `ExportTraceServiceRequest`; OTLP specification, "JSON
/// Protobuf Encoding").
package enum OTLPDocument {
    /// The document with these spans.
    ///
    /// - Parameters:
    ///   - spans: Finished spans.
    ///   - resource: The attributes that the spans have in common, such as `service.name`.
    ///   - version: The version of the service.
    package static func bytes(_ spans: [Span], resource: Span.Attributes, version: String) -> [UInt8] {
        var text: [UInt8] = []
        text.append("{\"resourceSpans\":[{\"resource\":{\"attributes\":")
        append(resource, to: &text)
        text.append("},\"scopeSpans\":[{\"scope\":{\"name\":\"alula\",\"version\":")
        JSONText.appendString(version, to: &text)
        text.append("},\"spans\":[")
        for (index, span) in spans.enumerated() {
            if index > 0 { text.append(",") }
            append(span, to: &text)
        }
        text.append("]}]}]}")
        return text
    }

    private static func append(_ span: Span, to text: inout [UInt8]) {
        text.append("{\"traceId\":\"\(span.context.traceID.text)\",\"spanId\":\"\(span.context.spanID.text)\"")
        if let parent = span.parentID { text.append(",\"parentSpanId\":\"\(parent.text)\"") }
        text.append(",\"name\":")
        JSONText.appendString(span.name, to: &text)
        // Times are 64-bit numbers, which JSON readers may round: they are texts.
        text.append(
            ",\"kind\":\(span.kind.rawValue),\"startTimeUnixNano\":\"\(span.time.lowerBound)\","
                + "\"endTimeUnixNano\":\"\(span.time.upperBound)\",\"attributes\":")
        append(span.attributes, to: &text)
        if !span.links.isEmpty {
            let links = span.links.map { "{\"traceId\":\"\($0.traceID.text)\",\"spanId\":\"\($0.spanID.text)\"}" }
            text.append(",\"links\":[\(links.joined(separator: ","))]")
        }
        if let failure = span.failure {
            text.append(",\"status\":{\"code\":2,\"message\":")
            JSONText.appendString(failure, to: &text)
            text.append("}")
        }
        text.append("}")
    }

    private static func append(_ attributes: Span.Attributes, to text: inout [UInt8]) {
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
}

extension [UInt8] {
    fileprivate mutating func append(_ text: String) { append(contentsOf: text.utf8) }
}
