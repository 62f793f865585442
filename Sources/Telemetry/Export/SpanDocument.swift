import JSON

/// OTLP JSON (opentelemetry-proto 1.0, `ExportTraceServiceRequest`).
package enum SpanDocument {
    package static func bytes(_ spans: [Span], of resource: OTLPResource) -> [UInt8] {
        OTLPText.document(of: "Spans", resource: resource) { text in
            for (index, span) in spans.enumerated() {
                if index > 0 { text.append(",") }
                append(span, to: &text)
            }
        }
    }

    private static func append(_ span: Span, to text: inout [UInt8]) {
        text.append("{\"traceId\":\"\(span.context.traceID.text)\",\"spanId\":\"\(span.context.spanID.text)\"")
        if let parent = span.parentID { text.append(",\"parentSpanId\":\"\(parent.text)\"") }
        text.append(",\"name\":")
        JSONText.appendString(span.name, to: &text)
        // Times are strings, because JSON parsers may round 64-bit numbers.
        text.append(
            ",\"kind\":\(span.kind.rawValue),\"startTimeUnixNano\":\"\(span.time.lowerBound)\","
                + "\"endTimeUnixNano\":\"\(span.time.upperBound)\",\"attributes\":")
        OTLPText.append(span.attributes, to: &text)
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
}
