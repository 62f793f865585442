package import Downloading
package import HTTPTypes
import Program
package import Telemetry
import Text

package struct ExportSettings: Sendable {
    package struct Collector: Sendable {
        /// The endpoint for OTLP over HTTP; nil sends nothing.
        package var endpoint: SourceURL?
        package var fields: HTTPFields = [:]
    }

    package var traces = Collector()
    package var metrics = Collector()
    package var sampler = TraceSampler(ratio: 0.01)
    package var interval = Duration.seconds(60)
    package var temporality = MetricTemporality.cumulative
    /// Attributes that extend or replace the defaults; names are unique.
    var attributes: [(name: String, value: String)] = []
    package var ignored: [IgnoredVariable] = []

    mutating func clearEndpoints(traces clearsTraces: Bool) {
        metrics.endpoint = nil
        if clearsTraces { traces.endpoint = nil }
    }

    private static let ratio = SettingParser(allowed: "a number from 0 to 1, such as 0.01") { text -> Double? in
        guard text.utf8.count <= 16, text.utf8.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") }) else {
            return nil
        }
        return Double(text).flatMap { $0 <= 1 ? $0 : nil }
    }

    static let intervals = Duration.milliseconds(100)...Duration.seconds(86_400)
}

package struct IgnoredVariable: Equatable, Sendable {
    let name: String
    let allowed: String

    /// Logs the names of ignored variables, but never their values, which may be secret.
    package static func report(_ variables: [IgnoredVariable], to logger: Logger) {
        for variable in variables {
            logger.warning(
                "ignoring an OpenTelemetry variable with an invalid value",
                ["variable": .string(variable.name), "allowed": .string(variable.allowed)])
        }
    }
}

extension Settings {
    /// The attributes: OpenTelemetry's variables override the defaults, and `instanceName` overrides both.
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
            "traceEndpoint", \.exports.traces.endpoint, as: .endpoint(example: "http://127.0.0.1:4318/v1/traces"),
            help: "URL of the trace collector, such as http://host:4318/v1/traces", secrecy: .hidden),
        Setting(
            "traceSample", \.exports.sampler, as: ratio.map { TraceSampler(ratio: $0) }, default: "0.01",
            help: "share of traced requests, 0 to 1"),
        Setting(
            "metricsEndpoint", \.exports.metrics.endpoint, as: .endpoint(example: "http://127.0.0.1:4318/v1/metrics"),
            help: "URL of the metrics collector, such as http://host:4318/v1/metrics", secrecy: .hidden),
        Setting(
            "metricsInterval", \.exports.interval,
            as: SettingParser.duration.map(allowed: "a duration from 100ms to 24h") {
                intervals.contains($0) ? $0 : nil
            },
            default: "60s",
            help: "interval between exports of metrics"),
    ]
}
