import Coordination
import Dialects
import Downloading
import HTTPTypes
import Telemetry
import Text

/// OpenTelemetry's own environment variables, which Alula's settings override ("Environment Variable Specification" and
/// "OTLP Exporter Configuration").
///
/// As the specification requires, an invalid value is ignored with a warning. An empty value counts as unset.
struct OpenTelemetryEnvironment {
    private let environment: [String: String]  // Names are texts of our own.
    private var exports: ExportSettings

    static func apply(_ environment: [String: String], to settings: inout Settings) {
        var reader = OpenTelemetryEnvironment(environment: environment, exports: settings.exports)
        reader.readResource()
        reader.readSampler()
        reader.readMetrics()
        reader.readCollectors()
        reader.record(since: settings.exports, in: &settings)
        settings.exports = reader.exports
    }

    private func record(since before: ExportSettings, in settings: inout Settings) {
        let changes = [
            ("traceEndpoint", exports.traces.endpoint?.canonical),
            ("metricsEndpoint", exports.metrics.endpoint?.canonical),
            ("traceSample", exports.sampler == before.sampler ? nil : environment["OTEL_TRACES_SAMPLER"]),
            ("metricsInterval", exports.interval == before.interval ? nil : "\(Int(exports.interval.milliseconds))ms"),
        ]
        for (name, text) in changes {
            guard let setting = SettingTable.named(name), let text else { continue }
            settings.record(setting, text: text, from: .environment)
        }
    }

    private mutating func value<Value>(_ name: String, allowed: String, _ read: (String) -> Value?) -> Value? {
        guard let text = environment[name]?.trimmingSpaces, !text.isEmpty else { return nil }
        if let value = read(text) { return value }
        exports.ignored.append(IgnoredVariable(name: name, allowed: allowed))
        return nil
    }

    private mutating func readResource() {
        let pairs = value("OTEL_RESOURCE_ATTRIBUTES", allowed: Self.pairs) { Self.pairs(in: $0) } ?? []
        // This name overrides a service.name among the attributes.
        let name = value("OTEL_SERVICE_NAME", allowed: "a name") { [(name: "service.name", value: $0)] } ?? []
        for attribute in pairs + name {
            exports.attributes.removeAll { $0.name.isExactly(attribute.name) }
            exports.attributes.append(attribute)
        }
    }

    private mutating func readSampler() {
        let sampler = value("OTEL_TRACES_SAMPLER", allowed: Self.samplers.map(\.name).joined(separator: ", ")) {
            text in Self.samplers.first { $0.name.isExactly(text.lowercased()) }
        }
        guard let sampler else { return }
        var ratio = sampler.ratio
        if ratio == nil {
            ratio = value("OTEL_TRACES_SAMPLER_ARG", allowed: "a number from 0 to 1") { text in
                Double(text).flatMap { 0...1 ~= $0 ? $0 : nil }
            }
        }
        exports.sampler = TraceSampler(ratio: ratio ?? 1, isParentBased: sampler.isParentBased)
    }

    private static let samplers: [(name: String, ratio: Double?, isParentBased: Bool)] = [
        ("always_on", 1, false), ("always_off", 0, false), ("traceidratio", nil, false),
        ("parentbased_always_on", 1, true), ("parentbased_always_off", 0, true),
        ("parentbased_traceidratio", nil, true),
    ]

    private mutating func readMetrics() {
        let preference = value(
            "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", allowed: "cumulative, delta or lowmemory"
        ) { MetricTemporality(rawValue: $0.lowercased()) }
        let interval = value("OTEL_METRIC_EXPORT_INTERVAL", allowed: "milliseconds from 100 to 86400000") { text in
            Int(text).map { Duration.milliseconds($0) }.flatMap { ExportSettings.intervals.contains($0) ? $0 : nil }
        }
        exports.temporality = preference ?? exports.temporality
        exports.interval = interval ?? exports.interval
    }

    private mutating func readCollectors() {
        let fields = fields("OTEL_EXPORTER_OTLP_HEADERS")
        exports.traces.fields = self.fields("OTEL_EXPORTER_OTLP_TRACES_HEADERS") ?? fields ?? [:]
        exports.metrics.fields = self.fields("OTEL_EXPORTER_OTLP_METRICS_HEADERS") ?? fields ?? [:]
        let isDisabled = value("OTEL_SDK_DISABLED", allowed: "true or false") {
            ["true": true, "false": false][ExactText($0.lowercased())]
        }
        if isDisabled == true { return }
        for signal in ["", "TRACES_", "METRICS_"] {
            _ = value("OTEL_EXPORTER_OTLP_\(signal)PROTOCOL", allowed: "http/json") { $0 == "http/json" ? $0 : nil }
        }
        // The paths of the signals are appended to this URL.
        let base = value("OTEL_EXPORTER_OTLP_ENDPOINT", allowed: Self.endpoint) { text in
            text.utf8.contains(UInt8(ascii: "?")) || Self.url(text) == nil
                ? nil : text.hasSuffix("/") ? String(text.dropLast()) : text
        }
        if isSent("OTEL_TRACES_EXPORTER", besides: []) {
            exports.traces.endpoint = endpoint("TRACES") ?? base.flatMap { Self.url($0 + "/v1/traces") }
        }
        // Prometheus can always scrape the metrics.
        if isSent("OTEL_METRICS_EXPORTER", besides: ["prometheus"]) {
            exports.metrics.endpoint = endpoint("METRICS") ?? base.flatMap { Self.url($0 + "/v1/metrics") }
        }
    }

    private mutating func endpoint(_ signal: String) -> SourceURL? {
        value("OTEL_EXPORTER_OTLP_\(signal)_ENDPOINT", allowed: Self.endpoint) { Self.url($0) }
    }

    private static func url(_ text: String) -> SourceURL? { try? SettingParser.endpoint(example: "").parse(text) }

    private mutating func isSent(_ name: String, besides others: [String]) -> Bool {
        let supported = ["otlp", "none"] + others
        let exporters = value(name, allowed: supported.joined(separator: ", ")) { text in
            let names = try? SettingParser.members.parse(text.lowercased())
            return names?.allSatisfy(supported.contains) == true ? names : nil
        }
        return exporters?.contains("otlp") ?? true
    }

    private mutating func fields(_ name: String) -> HTTPFields? {
        value(name, allowed: "names and values of fields as \(Self.pairs)") { text in
            guard let pairs = Self.pairs(in: text) else { return nil }
            let fields = pairs.compactMap { pair -> HTTPField? in
                guard let name = HTTPField.Name(pair.name), !Self.ownFields.contains(name),
                    pair.value.utf8.allSatisfy(\.isPrintableASCII)
                else { return nil }
                return HTTPField(name: name, value: pair.value)
            }
            return fields.count == pairs.count ? HTTPFields(fields) : nil
        }
    }

    private static let ownFields: Set<HTTPField.Name> = [.contentType, .contentLength, .transferEncoding]
    private static let endpoint = "an absolute http or https URL, such as http://127.0.0.1:4318"
    private static let pairs = "key=value, separated by commas, percent-encoded"

    /// Parses W3C Baggage, in which spaces need no encoding; returns nil if a pair is invalid.
    private static func pairs(in text: String) -> [(name: String, value: String)]? {
        func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
            var bytes = bytes
            while bytes.first == 0x20 || bytes.first == 0x09 { bytes.removeFirst() }
            while bytes.last == 0x20 || bytes.last == 0x09 { bytes.removeLast() }
            return URLEscape.decodeText(bytes.flatMap { $0 == 0x20 ? Array("%20".utf8) : [$0] }[...])
        }
        var pairs: [(name: String, value: String)] = []
        for member in Array(text.utf8).split(separator: UInt8(ascii: ",")) {
            let fields = member.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(fields[0]), !name.isEmpty, fields.count == 2, let value = decoded(fields[1]) else {
                return nil
            }
            pairs.append((name, value))
        }
        return pairs
    }
}
