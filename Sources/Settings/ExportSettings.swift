package import Downloading
package import HTTPTypes
import Program
package import Telemetry
import Text

/// The OpenTelemetry collectors, and the data they receive.
package struct ExportSettings: Sendable {
    package struct Collector: Sendable {
        /// The URL for OTLP over HTTP; nil if nothing is sent.
        package var endpoint: SourceURL?
        /// Fields of its requests, such as a vendor's key.
        package var fields: HTTPFields = [:]
    }

    package var traces = Collector()
    package var metrics = Collector()
    package var sampler = TraceSampler(share: 0.01)
    package var interval = Duration.seconds(60)
    package var temporality = MetricTemporality.cumulative
    /// Attributes of the service that extend or replace the defaults; names are unique.
    var attributes: [(name: String, value: String)] = []
    /// OpenTelemetry variables that are ignored because their values are invalid.
    package var ignored: [IgnoredVariable] = []

    /// Removes the metrics endpoint, and optionally the traces endpoint.
    mutating func clearEndpoints(traces clearsTraces: Bool) {
        metrics.endpoint = nil
        if clearsTraces { traces.endpoint = nil }
    }

    static func endpoint(_ text: String, example: String) throws(InvalidValue) -> SourceURL {
        guard !text.contains("#"), let url = try? SourceURL(parsing: text) else {
            throw InvalidValue(allowed: "an absolute http or https URL, such as \(example)")
        }
        return url
    }

    /// A share such as `0.01`.
    static func share(_ text: String) throws(InvalidValue) -> Double {
        guard !text.isEmpty, text.utf8.count <= 16,
            text.utf8.allSatisfy({ ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || $0 == UInt8(ascii: ".") }),
            let share = Double(text), share <= 1
        else { throw InvalidValue(allowed: "a number from 0 to 1, such as 0.01") }
        return share
    }

    static func interval(_ text: String) throws(InvalidValue) -> Duration {
        let interval = try SettingValues.duration(text)
        guard intervals.contains(interval) else { throw InvalidValue(allowed: "a duration from 100ms to 24h") }
        return interval
    }

    static let intervals = Duration.milliseconds(100)...Duration.seconds(86_400)
}

/// An OpenTelemetry variable with an invalid value.
package struct IgnoredVariable: Equatable, Sendable {
    let name: String
    let allowed: String

    /// Logs which variables are ignored, one line each; never their values, which may be secret.
    package static func report(_ variables: [IgnoredVariable], to logger: Logger) {
        for variable in variables {
            logger.warning(
                "a variable of OpenTelemetry is ignored: its value is not allowed",
                ["variable": .string(variable.name), "allowed": .string(variable.allowed)])
        }
    }
}

extension Settings {
    /// The attributes of the service for collectors: OpenTelemetry's variables override the defaults, and
    /// `instanceName` overrides both.
    package var resourceAttributes: [(name: String, value: String)] {
        let instance = (name: "service.instance.id", value: sharedCache.instance)
        var attributes = [("service.name", "alula"), ("service.version", Program.version), instance]
            .map { (name: $0.0, value: $0.1) }
        for attribute in exports.attributes {
            let known = attributes.firstIndex { $0.name.isExactly(attribute.name) }
            guard let known else {
                attributes.append(attribute)
                continue
            }
            if sharedCache.instanceName == nil || attribute.name != instance.name { attributes[known] = attribute }
        }
        return attributes
    }
}

extension ExportSettings {
    static let table: [Setting] = [
        Setting(
            "traceEndpoint", \.exports.traces.endpoint, .endpoint(example: "http://127.0.0.1:4318/v1/traces"),
            help: "URL that spans are sent to, such as http://host:4318/v1/traces", secrecy: .hidden),
        Setting(
            "traceSample", \.exports.sampler,
            .init { text throws(InvalidValue) in TraceSampler(share: try ExportSettings.share(text)) }, default: "0.01",
            help: "share of requests that are traced, 0 to 1"),
        Setting(
            "metricsEndpoint", \.exports.metrics.endpoint, .endpoint(example: "http://127.0.0.1:4318/v1/metrics"),
            help: "URL that metrics are sent to, such as http://host:4318/v1/metrics", secrecy: .hidden),
        Setting(
            "metricsInterval", \.exports.interval, .init(ExportSettings.interval), default: "60s",
            help: "time between two documents of metrics"),
    ]
}
