package import Downloading

/// Where spans are sent, and how many requests have some.
package struct TraceSettings: Sendable {
    /// The collector's URL for OTLP over HTTP; nil if nothing is sent.
    package var endpoint: SourceURL?
    /// Share of the requests that are traced, 0 to 1.
    package var sampledShare = 0.01

    /// The endpoint that a text names.
    static func endpoint(_ text: String) throws(InvalidValue) -> SourceURL {
        guard !text.contains("#"), let url = try? SourceURL(parsing: text) else {
            throw InvalidValue(allowed: "an absolute http or https URL, such as http://127.0.0.1:4318/v1/traces")
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
}

extension SettingTable {
    /// The settings of traces.
    static let tracing: [Setting] = [
        Setting(
            name: "traceEndpoint", defaultText: "none",
            help: "URL that spans are sent to, such as http://host:4318/v1/traces"
        ) {
            (settings, text) throws(InvalidValue) in settings.traces.endpoint = try TraceSettings.endpoint(text)
        },
        Setting(name: "traceSample", default: "0.01", help: "share of requests that are traced, 0 to 1") {
            (settings, text) throws(InvalidValue) in settings.traces.sampledShare = try TraceSettings.share(text)
        },
    ]
}
