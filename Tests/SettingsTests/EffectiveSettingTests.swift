import Downloading
import HTTPServing
import JSON
import TestSupport
import Testing
import Text
import ThumbnailAPI
import ThumbnailPipeline

@testable import Commands
@testable import Settings

/// Effective values with their origins, and the output of `--check-config` besides errors.
struct EffectiveSettingTests {
    private let folder = TemporaryFolder()

    private func effective(
        _ file: String = "{}", _ environment: [String: String] = [:], _ arguments: [String] = []
    ) throws -> [String: EffectiveSetting] {
        let settings = try SettingsLoader.load(
            arguments: ["--config", "a.json5"] + arguments, environment: environment
        ) { _ in file }
        return Dictionary(uniqueKeysWithValues: settings.effective.map { ($0.name, $0) })
    }

    @Test func `each setting has its value and source`() throws {
        let settings = try effective(
            "{ port: 8081, adminPort: 9092, sizes: [320, 640], presets: { card: { w: 1 }, list: { w: 2 } } }",
            ["ALULA_ADMIN_PORT": "9093", "ALULA_LOG_LEVEL": "debug"], ["--log-level", "error"])
        #expect(settings.count == SettingTable.all.count)
        for (name, value, source) in [
            ("port", "8081", .file), ("adminPort", "9093", .environment), ("logLevel", "error", .flag),
            ("sizes", "320,640", .file), ("presets", "card,list", .file), ("maxRedirects", "5", .default),
            ("signingKeys", "none", .default),
        ] as [(String, String, EffectiveSetting.Source)] {
            #expect(settings[name] == EffectiveSetting(name: name, value: value, source: source))
        }
    }

    @Test func `a value that depends on the machine is the value in use`() throws {
        var settings = try SettingsLoader.load(
            arguments: ["--result-cache-capacity", "64MiB"], environment: [:]
        ) { _ in "{}" }
        settings.renderWorkers = 3
        settings.publicListener.maximumConnections = 900
        settings.pipeline.decodedCacheCapacity = 1 << 20
        let values = Dictionary(uniqueKeysWithValues: settings.effective.map { ($0.name, $0.value) })
        #expect(values["renderWorkers"] == "3" && values["maxConnections"] == "900")
        #expect(values["decodedCacheCapacity"] == "1048576" && values["resultCacheCapacity"] == "64MiB")
        #expect(values["maxConnectionsPerAddress"] == "none" && values["maxRedirects"] == "5")
    }

    @Test func `a variable that the file names overrides nothing`() throws {
        let settings = try SettingsLoader.load(
            arguments: ["--config", "a.json5"], environment: ["ALULA_ADMIN_TOKEN": "geheim"]
        ) { _ in "{ adminToken: { env: 'ALULA_ADMIN_TOKEN' } }" }
        #expect(settings.api.adminToken?.text == "geheim" && settings.warnings(memory: .max).isEmpty)
    }

    @Test func `no value is a secret`() throws {
        let secrets = SettingTable.all.filter { $0.secrecy == .secret }
        let key = String(repeating: "ab", count: 32)
        let environment = Dictionary(uniqueKeysWithValues: secrets.map { ($0.environmentName, key) })
        let settings = try effective(
            """
            { origins: { photos: { url: "https://h/", credentials: { bearer: { env: "TOKEN" } } } },
              purgeHooks: [{ url: "https://h/?token=\(key)" }] }
            """, environment.merging(["TOKEN": key]) { $1 },
            [
                "--metrics-endpoint", "https://c.example/v1?token=\(key)",
                "--allowed-sources", "https://a.example/?key=\(key),http://b.example/*",
            ])
        #expect(!settings.values.contains { $0.value.contains("abab") })
        #expect(secrets.allSatisfy { settings[$0.name]?.value == "set" })
        #expect(settings["metricsEndpoint"]?.value == "https://c.example/v1?***")
        #expect(settings["allowedSources"]?.value == "https://a.example/?***,http://b.example/*")
        #expect(settings["origins"]?.value == "photos" && settings["purgeHooks"]?.value == "1")
    }

    @Test func `other programs' variables are a part of the environment`() throws {
        let settings = try effective(
            "{}", ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "SECURITY_KEY": "geheim", "QUALITY": "70"],
            ["--environment-of", "thumbor"])
        #expect(settings["traceEndpoint"]?.value == "http://c:4318/v1/traces")
        #expect(settings["traceEndpoint"]?.source == .environment)
        #expect(settings["thumborKey"] == EffectiveSetting(name: "thumborKey", value: "set", source: .environment))
    }

    @Test func `the printed form is JSON with a line for each setting`() throws {
        let lines = EffectiveSetting.lines(Settings().effective)
        guard case .array(let values)? = try JSONReader.value(in: Array(lines.utf8)).members?["settings"] else {
            Issue.record("no list")
            return
        }
        #expect(values.count == SettingTable.all.count)
        #expect(
            lines.contains(#"\n  {"name":"port","value":"8080","source":"default"},\n"#.replacing("\\n", with: "\n")))
    }

    @Test func `a variable that overrides the file has a warning`() throws {
        let settings = try SettingsLoader.load(
            arguments: ["--config", "a.json5", "--log-level", "info"],
            environment: ["ALULA_PORT": "8082", "ALULA_LOG_LEVEL": "debug", "ALULA_SIZES": "1"]
        ) { _ in "{ port: 8081, logLevel: 'error' }" }
        #expect(
            settings.warnings(memory: .max).map(\.problem.line) == [
                "the environment overrides the settings file (settings: port, variables: ALULA_PORT)"
            ])
    }

    @Test func `a check names unsafe settings with their positions`() throws {
        let report = try CheckConfigCommand.report(
            on: "{\n  allowedNetworks: ['169.254.0.0/16'],\n  port: 8081 }", environment: ["ALULA_PORT": "1"])
        #expect(report.faults.isEmpty)
        #expect(
            report.warnings == [
                ":2:20: warning: allowedNetworks lets clients name link-local addresses or those of metadata services "
                    + "(networks: 169.254.0.0/16)",
                ":3:9: warning: the environment overrides the settings file (settings: port, variables: ALULA_PORT)",
            ])
    }

    @Test func `a check names missing secrets, and checks all else`() throws {
        let text = """
            { signingKeys: [{ env: "NEW" }, { file: "/nowhere/old" }],
              origins: {
                photos: { url: "https://h/", credentials: { basic: { user: "a", password: { env: "PASSWORD" } } } },
              },
              thumborKey: { env: "SET" }, sharedCacheKey: { file: "/nowhere/key" }, baseOrigin: "photos",
            """
        let environment = ["SET": "geheim"]
        let report = try CheckConfigCommand.report(on: text + "}", environment: environment)
        #expect(report.faults.isEmpty)
        #expect(
            Set(report.warnings) == [
                ":1:16: warning: signingKeys.0: the environment variable NEW is missing",
                ":1:16: warning: signingKeys.1: the file /nowhere/old is missing",
                ":3:79: warning: origins.photos.credentials.basic.password: the environment variable PASSWORD is missing",
                ":5:47: warning: sharedCacheKey: the file /nowhere/key is missing",
            ])
        let wrong = try CheckConfigCommand.report(on: text + " port: 'a' }", environment: environment)
        #expect(wrong.faults.count == 1 && wrong.faults[0].contains("port"))
    }

    @Test(arguments: SettingTable.all.filter { $0.secrecy == .secret }.map(\.name))
    func `a check takes every secret for valid if it is missing`(name: String) throws {
        let other = ["imgproxyKeys": "imgproxySalts", "imgproxySalts": "imgproxyKeys"][name]
        let beside = other.map { ", \($0): { env: \"B\" }" } ?? ""
        let report = try CheckConfigCommand.report(on: "{ \(name): { env: \"A\" }\(beside) }", environment: [:])
        #expect(report.faults.isEmpty && report.warnings.count == (other == nil ? 1 : 2))
    }

    @Test func `an empty secret and a form elsewhere are errors in a check, too`() throws {
        for text in ["{ thumborKey: { env: 'EMPTY' } }", "{ port: { env: 'A' } }", "{ thumborKey: { file: '/tmp' } }"] {
            let report = try CheckConfigCommand.report(on: text, environment: ["EMPTY": ""])
            #expect(report.faults.count == 1, "\(text)")
        }
    }
}
