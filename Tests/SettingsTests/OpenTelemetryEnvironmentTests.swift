import Coordination
import Downloading
import HTTPTypes
import Telemetry
import TestSupport
import Testing

@testable import Settings

struct OpenTelemetryEnvironmentTests {
    private func load(
        _ environment: [String: String], _ arguments: [String] = [], file: String = "{}"
    ) throws -> Settings {
        try SettingsLoader.load(
            arguments: arguments + ["--config", "x"], environment: environment, readFile: { _ in file })
    }

    private func ignored(_ settings: Settings) -> [String] { settings.exports.ignored.map(\.name) }

    private func attributes(_ settings: Settings) -> [String] {
        settings.resourceAttributes.map { "\($0.name)=\($0.value)" }
    }

    private static let endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"

    @Test func `without variables nothing is sent, and nothing is ignored`() throws {
        let settings = try load([:])
        #expect(settings.exports.traces.endpoint == nil && settings.exports.metrics.endpoint == nil)
        #expect(settings.exports.sampler == TraceSampler(ratio: 0.01))
        #expect(settings.exports.interval == .seconds(60) && settings.exports.temporality == .cumulative)
        #expect(ignored(settings).isEmpty)
        #expect(attributes(settings).first == "service.name=alula")
    }

    @Test(arguments: [
        ("http://c:4318", "http://c:4318/v1/traces"), ("http://c:4318/", "http://c:4318/v1/traces"),
        ("https://c/otlp", "https://c:443/otlp/v1/traces"), (" http://c:4318/a/ ", "http://c:4318/a/v1/traces"),
    ])
    func `the path of each signal is appended to the endpoint`(text: String, url: String) throws {
        let exports = try load([Self.endpoint: text]).exports
        let metrics = url.replacing("/v1/traces", with: "/v1/metrics")
        for (endpoint, expected) in [(exports.traces.endpoint, url), (exports.metrics.endpoint, metrics)] {
            #expect(endpoint?.canonical.replacing(":443/", with: "/") == expected.replacing(":443/", with: "/"))
        }
    }

    @Test func `a signal's endpoint is used unchanged`() throws {
        let exports = try load([
            Self.endpoint: "http://c:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t:1/spans",
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://m:2",
        ]).exports
        #expect(exports.traces.endpoint?.canonical == "http://t:1/spans")
        #expect(exports.metrics.endpoint?.canonical == "http://m:2/")
    }

    @Test func `settings override variables`() throws {
        let variables = [
            Self.endpoint: "http://c:4318", "OTEL_TRACES_SAMPLER": "always_off", "OTEL_METRIC_EXPORT_INTERVAL": "5000",
            "OTEL_RESOURCE_ATTRIBUTES": "service.instance.id=theirs",
        ]
        let given = try load(
            variables, ["--trace-endpoint", "http://own:1/t", "--metrics-interval", "9s"],
            file: "{ traceSample: 0.5, metricsEndpoint: 'http://own:1/m', instanceName: 'ours' }")
        #expect(given.exports.traces.endpoint?.canonical == "http://own:1/t")
        #expect(given.exports.metrics.endpoint?.canonical == "http://own:1/m")
        #expect(given.exports.interval == .seconds(9))
        #expect(given.exports.sampler == TraceSampler(ratio: 0.5))
        #expect(attributes(given).contains("service.instance.id=ours"))
        let others = try load(variables)
        #expect(others.exports.interval == .seconds(5))
        #expect(others.exports.sampler == TraceSampler(ratio: 0, isParentBased: false))
        #expect(attributes(others).contains("service.instance.id=theirs"))
    }

    @Test(
        arguments: [
            ("always_on", nil, 1, false), ("always_off", "1", 0, false), ("traceidratio", "0.25", 0.25, false),
            ("traceidratio", nil, 1, false), ("parentbased_always_on", nil, 1, true),
            ("parentbased_always_off", nil, 0, true), ("ParentBased_TraceIdRatio", "1e-3", 0.001, true),
        ] as [(String, String?, Double, Bool)])
    func `each sampler has its share, and its treatment of callers`(
        name: String, argument: String?, ratio: Double, isParentBased: Bool
    ) throws {
        var environment = ["OTEL_TRACES_SAMPLER": name]
        environment["OTEL_TRACES_SAMPLER_ARG"] = argument
        let settings = try load(environment)
        #expect(settings.exports.sampler == TraceSampler(ratio: ratio, isParentBased: isParentBased))
        #expect(ignored(settings).isEmpty)
    }

    @Test func `attributes are decoded, and the service's name overrides them`() throws {
        let settings = try load([
            "OTEL_RESOURCE_ATTRIBUTES": "service.name=a, deployment.environment.name = a%2Cb%3D%20c ,service.version=7",
            "OTEL_SERVICE_NAME": "images",
        ])
        #expect(
            attributes(settings).sorted() == [
                "deployment.environment.name=a,b= c", "service.instance.id=\(settings.sharedCache.instance)",
                "service.name=images", "service.version=7",
            ])
    }

    @Test func `fields of a signal replace those for both`() throws {
        let exports = try load([
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b,Authorization=Basic eA==",
            "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "x=1",
        ]).exports
        #expect(exports.traces.fields.map(\.value) == ["a b", "Basic eA=="])
        #expect(exports.metrics.fields.map(\.name.rawName) == ["x"])
    }

    @Test(
        arguments: [
            (["OTEL_SDK_DISABLED": "TRUE"], false, false), (["OTEL_SDK_DISABLED": "false"], true, true),
            (["OTEL_TRACES_EXPORTER": "none"], false, true), (["OTEL_METRICS_EXPORTER": "none"], true, false),
            (["OTEL_METRICS_EXPORTER": "prometheus"], true, false),
            (["OTEL_METRICS_EXPORTER": "otlp,prometheus"], true, true), (["OTEL_TRACES_EXPORTER": "otlp"], true, true),
        ] as [([String: String], Bool, Bool)])
    func `signals can be disabled`(variables: [String: String], traces: Bool, metrics: Bool) throws {
        let settings = try load(variables.merging([Self.endpoint: "http://c"]) { $1 })
        #expect((settings.exports.traces.endpoint != nil) == traces)
        #expect((settings.exports.metrics.endpoint != nil) == metrics)
        #expect(ignored(settings).isEmpty)
    }

    @Test func `a setting overrides a variable that disables exports`() throws {
        let settings = try load(["OTEL_SDK_DISABLED": "true"], ["--trace-endpoint", "http://own:1/t"])
        #expect(settings.exports.traces.endpoint != nil && settings.exports.metrics.endpoint == nil)
    }

    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "c:4318"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c/?a=b"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://c"), ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://u:p@c"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "key"), ("OTEL_EXPORTER_OTLP_HEADERS", "a b=c"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x=a%0d%0aHost:%20b"),
        ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "Content-Length=1"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=%zz"),
        ("OTEL_RESOURCE_ATTRIBUTES", "a=b,c"), ("OTEL_RESOURCE_ATTRIBUTES", "=b"),
        ("OTEL_RESOURCE_ATTRIBUTES", "a=%4"), ("OTEL_RESOURCE_ATTRIBUTES", "a=%ff"),
        ("OTEL_TRACES_SAMPLER", "jaeger_remote"), ("OTEL_SDK_DISABLED", "1"),
        ("OTEL_TRACES_EXPORTER", "zipkin"), ("OTEL_METRICS_EXPORTER", "console"),
        ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "both"), ("OTEL_METRIC_EXPORT_INTERVAL", "1s"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "-5"), ("OTEL_METRIC_EXPORT_INTERVAL", "99999999999999999999"),
    ])
    func `an invalid value is ignored and named, and the start continues`(name: String, value: String) throws {
        let settings = try load([name: value])
        #expect(ignored(settings) == [name])
        let defaults = try load([:])
        #expect(settings.exports.traces.endpoint == nil && settings.exports.metrics.endpoint == nil)
        #expect(settings.exports.sampler == defaults.exports.sampler)
        #expect(settings.exports.interval == defaults.exports.interval)
        #expect(attributes(settings) == attributes(defaults))
        #expect(!"\(settings.exports.ignored)".contains(value) || value == "1" || value == "key")
    }

    @Test(arguments: ["2", "-0.1", "nan", "half"])
    func `an invalid share is ignored, and all traces are sampled`(text: String) throws {
        let settings = try load(["OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": text])
        #expect(ignored(settings) == ["OTEL_TRACES_SAMPLER_ARG"])
        #expect(settings.exports.sampler == TraceSampler(ratio: 1, isParentBased: false))
    }

    @Test func `an ignored endpoint of a signal leaves the one for both`() throws {
        let settings = try load([Self.endpoint: "http://c", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "c"])
        #expect(settings.exports.traces.endpoint?.canonical.hasSuffix("/v1/traces") == true)
    }

    @Test func `empty variables are ignored`() throws {
        let names = [
            Self.endpoint, "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_SAMPLER", "OTEL_SDK_DISABLED",
            "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_METRIC_EXPORT_INTERVAL",
        ]
        let settings = try load(Dictionary(uniqueKeysWithValues: names.map { ($0, " ") }))
        let defaults = try load([:])
        #expect(ignored(settings).isEmpty && attributes(settings) == attributes(defaults))
    }

    @Test func `a warning names the variable and its allowed values, but not the value`() throws {
        let sink = RecordingSink()
        IgnoredVariable.report(
            try load(["OTEL_EXPORTER_OTLP_HEADERS": "secret"]).exports.ignored, to: Logger(level: .info, sink: sink))
        let line = try #require(sink.lines.first)
        #expect(line.level == .warning && !"\(line)".contains("secret"))
        #expect("\(line)".contains("OTEL_EXPORTER_OTLP_HEADERS") && "\(line)".contains("percent-encoded"))
    }

    @Test(arguments: [
        ["--metrics-interval", "99ms"], ["--metrics-interval", "25h"], ["--metrics-endpoint", "c:4318"],
    ])
    func `invalid settings stop the start`(arguments: [String]) {
        #expect(throws: SettingsLoader.Failure.self) { try load([:], arguments) }
    }
}
