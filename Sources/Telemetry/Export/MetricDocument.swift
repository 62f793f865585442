import JSON

/// OTLP JSON (opentelemetry-proto 1.0, `ExportMetricsServiceRequest`).
package enum MetricDocument {
    /// - Parameters:
    ///   - timeline: Decides which points the document contains.
    ///   - time: In nanoseconds since 1970.
    package static func bytes(
        _ readings: [MetricReading], at time: UInt64, in timeline: MetricTimeline, of resource: OTLPResource
    ) -> [UInt8] {
        OTLPText.document(of: "Metrics", resource: resource) { text in
            for (index, metric) in timeline.metrics(readings).enumerated() {
                if index > 0 { text.append(",") }
                append(metric, at: time, to: &text)
            }
        }
    }

    private static func append(_ metric: MetricTimeline.Metric, at time: UInt64, to text: inout [UInt8]) {
        text.append("{\"name\":")
        JSONText.appendString(metric.otlp.name, to: &text)
        text.append(",\"description\":")
        JSONText.appendString(metric.description.help, to: &text)
        text.append(",\"unit\":")
        JSONText.appendString(metric.otlp.unit, to: &text)
        let temporality = "\"aggregationTemporality\":\(metric.isDelta ? 1 : 2),"
        switch metric.description.kind {
        case .counter: text.append(",\"sum\":{\(temporality)\"isMonotonic\":true,")
        case .histogram: text.append(",\"histogram\":{\(temporality)")
        case .gauge: text.append(metric.otlp.isUpDownCounter ? ",\"sum\":{\(temporality)" : ",\"gauge\":{")
        }
        text.append("\"dataPoints\":[")
        let names = metric.otlp.attributes ?? metric.description.labels
        for (index, point) in metric.points.enumerated() {
            text.append(index > 0 ? ",{\"attributes\":" : "{\"attributes\":")
            OTLPText.append(attributes(names, point.attributes), to: &text)
            // 64-bit numbers are strings, because JSON parsers may round them.
            text.append(",\"startTimeUnixNano\":\"\(point.start)\",\"timeUnixNano\":\"\(time)\",")
            append(point.value, isWhole: metric.otlp.unit != "s", to: &text)
            text.append("}")
        }
        text.append("]}}")
    }

    private static func attributes(_ names: [String], _ values: [String]) -> Span.Attributes {
        zip(names, values).filter { !$1.isEmpty }.map { name, value in
            // The only attribute that the conventions define as a number.
            if name == "http.response.status_code", let number = Int(value) { return (name, .int(number)) }
            return (name, .string(value))
        }
    }

    private static func append(_ value: MetricTimeline.Value, isWhole: Bool, to text: inout [UInt8]) {
        switch value {
        case .number(let number):
            if isWhole, let whole = Int64(exactly: number) {
                text.append("\"asInt\":\"\(whole)\"")
            } else {
                text.append("\"asDouble\":\(number.isFinite ? number : 0)")
            }
        case .histogram(let reading):
            let counts = reading.counts.map { "\"\($0)\"" }.joined(separator: ",")
            let bounds = Histogram.secondsBounds.map { "\($0)" }.joined(separator: ",")
            text.append(
                "\"count\":\"\(reading.count)\",\"sum\":\(reading.sum),\"bucketCounts\":[\(counts)],"
                    + "\"explicitBounds\":[\(bounds)]")
        }
    }
}
