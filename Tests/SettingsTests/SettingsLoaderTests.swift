import Downloading
import HTTPServing
import HTTPTypes
import Recipes
import Telemetry
import TestSupport
import Testing
import ThumbnailAPI
import ThumbnailPipeline

@testable import Settings

struct SettingsLoaderTests {
    @Test func `without sources the documented defaults apply`() throws {
        let settings = try load()
        #expect(settings.publicListener.port == 8080 && settings.publicListener.bindAddress == "0.0.0.0")
        #expect(settings.adminListener.port == 9091 && settings.adminListener.bindAddress == "127.0.0.1")
        #expect(settings.pipeline.decodedCacheCapacity == 104_857_600)
        #expect(settings.pipeline.decodedCachePreferred == 62_914_560)
        #expect(settings.downloads.maximumActiveDownloads == 32)
        #expect(settings.publicListener.maximumConnections == 4_096)
        #expect(settings.publicListener.maximumConnectionsPerAddress == nil)
        #expect(settings.pipeline.maximumQueueDelay == .milliseconds(1_500))
        #expect(settings.sandbox.sourceFormats(inSandbox: false) == [.jpeg, .png, .webp, .gif, .bmp])
        #expect(settings.sandbox.sourceFormats(inSandbox: true) == Set(ImageFormat.allCases))
        #expect(!settings.sandbox.isRequired && !settings.sandbox.decodesInProcess)
    }

    @Test func `the page of settings names every setting with its default, and no other`() throws {
        let folder = #filePath.replacing("Tests/SettingsTests/SettingsLoaderTests.swift", with: "docs/")
        let page = try SettingsFile.read(folder + "settings.md")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").prefix(2).map { $0.dropFirst().dropLast().replacing("`", with: "") }
        }
        let written = rows.map { $0.map { String($0) }.joined(separator: " = ") }
        #expect(written.sorted() == SettingTable.all.map { "\($0.name) = \($0.defaultText)" }.sorted())
    }

    @Test func `a default is applied like a given value, but counts as not chosen`() throws {
        for setting in SettingTable.all {
            guard let value = setting.defaultValue else { continue }
            #expect(throws: Never.self, "\(setting.name)") { try load(["\(setting.flag)=\(value)"]) }
        }
        let settings = try load()
        #expect(!settings.choosesMaximumConnections && settings.chosenLogLevel == nil)
        #expect(settings.loopName == "alula" && settings.downloads.loopName == "alula")
    }

    @Test(arguments: [([], 15), (["--request-timeout", "4s"], 4)] as [([String], Int)])
    func `a body may take no longer than its whole request, on both listeners`(arguments: [String], seconds: Int) throws
    {
        let listeners = try load(arguments).listeners
        #expect(
            listeners.public.bodyTimeout == .seconds(seconds) && listeners.admin.bodyTimeout == .seconds(seconds))
    }

    @Test func `a flag overrides the environment, which overrides the file`() throws {
        let file = "{ maxRedirects: 1, connectTimeout: '1s', firstByteTimeout: '1s' }"
        let environment = [
            "ALULA_CONFIG": "a.json5", "ALULA_MAX_REDIRECTS": "2", "ALULA_CONNECT_TIMEOUT": "2s", "HOME": "/",
        ]
        let settings = try load(["--max-redirects", "3"], environment, file: file)
        #expect(settings.downloads.maximumRedirects == 3)
        #expect(settings.downloads.connectTimeout == .seconds(2))
        #expect(settings.downloads.firstByteTimeout == .seconds(1))
    }

    @Test func `an invalid value in the file is an error even if a flag or the environment overrides it`() throws {
        for (arguments, environment) in [(["--max-redirects", "3"], [:]), ([], ["ALULA_MAX_REDIRECTS": "3"])] {
            do throws(SettingsLoader.Failure) {
                _ = try SettingsLoader.load(
                    arguments: arguments + ["--config", "a.json5"], environment: environment
                ) { _ in "{ maxRedirects: 99 }" }
                Issue.record("no error")
            } catch {
                #expect(error.lines.first?.hasPrefix("maxRedirects in the settings file: ") == true, "\(error.lines)")
            }
        }
        let settings = try load(
            ["--admin-token", "abc-def"], ["ALULA_CONFIG": "a.json5"], file: "{ adminToken: { env: 'UNSET' } }")
        #expect(settings.api.adminToken?.text == "abc-def")
    }

    @Test func `pixels are mixed as linear light unless stored values are requested`() throws {
        #expect(try load().pipeline.rules.light == .linear)
        #expect(try load(["--resample", "gamma"]).pipeline.rules.light == .gamma)
    }

    @Test func `an automatic quality has a goal and bounds`() throws {
        #expect(try load().pipeline.rules.similarity == SimilarityGoal())
        let settings = try load([
            "--auto-quality", "0.9955", "--auto-quality-min", "1", "--auto-quality-max", "100",
        ])
        let goal = settings.pipeline.rules.similarity
        #expect(goal.minimum == 9_955 && goal.lowest == 1 && goal.highest == 100)
        #expect(try load(["--auto-quality", "1"]).pipeline.rules.similarity.minimum == 10_000)
        for wrong in ["1.0001", "-0.5", "0.98765", ".9", "0.", "1.2.3", "x"] {
            #expect(throws: (any Error).self) { try load(["--auto-quality=\(wrong)"]) }
        }
        #expect(throws: (any Error).self) { try load(["--auto-quality-min", "91"]) }
    }

    @Test func `both spellings of a flag are accepted`() throws {
        #expect(try load(["--port=0", "--admin-port", "0"]).publicListener.port == 0)
    }

    @Test func `a file may hold texts, numbers, flags, lists and comments`() throws {
        let file = """
            {
              // JSON5
              port: 0, accessLog: false, allowedPorts: [80, 8080], autoFormats: ['avif', 'webp'],
            }
            """
        let settings = try load(["--config", "a.json5"], file: file)
        #expect(settings.publicListener.port == 0)
        #expect(settings.api.accessLog == .off)
        #expect(settings.downloads.allowedPorts == [80, 8080])
        #expect(settings.pipeline.rules.automaticFormats == [.avif, .webp])
    }

    @Test(arguments: [
        ("{\n  port: 1\n  adminPort: 2\n}", "it is not JSON5: expected a comma or the end of the object, in line 3"),
        ("{ port: 1, 'port': 2 }", "it is not JSON5: a duplicate member, in line 1"),
        ("[]", "it must be one JSON5 object of settings"),
    ])
    func `an unreadable file is named, with the line of its fault`(file: String, reason: String) {
        #expect(throws: SettingsLoader.Failure(lines: ["--config: cannot use \"a.json5\": \(reason)"])) {
            try load(["--config", "a.json5"], file: file)
        }
    }

    @Test func `a number with a fraction is reported like any other wrong value`() {
        let error = #expect(throws: SettingsLoader.Failure.self) {
            try load(["--config", "a.json5"], file: "{ maxRedirects: 1.5 }")
        }
        #expect(error?.lines.first?.hasPrefix("maxRedirects in the settings file: invalid value \"1.5\"") == true)
    }

    @Test(arguments: SettingTable.all.map(\.name))
    func `each setting has three spellings of one name`(name: String) throws {
        let setting = try #require(SettingTable.all.first { $0.name == name })
        #expect(
            setting.flag.dropFirst(2).replacing("-", with: "_").uppercased() == setting.environmentName.dropFirst(6))
        #expect(setting.flag.replacing("-", with: "") == name.lowercased())
    }

    @Test(arguments: [
        (["--nope", "1"], "--nope: no such setting"), (["--port"], "--port: missing value"),
        (["--prot", "1"], "--prot: no such setting; did you mean --port?"),
        (["--autoformats", "webp"], "--autoformats: no such setting; did you mean --auto-formats?"),
        (["--port", "70000"], "--port: invalid value \"70000\"; expected a whole number from 0 to 65535"),
        (["--max-source-bytes", "64MB"], "invalid value \"64MB\"; expected a size"),
        (["--connect-timeout", "3"], "invalid value \"3\"; expected a duration"),
        (["--download-order", "random"], "expected fifo or lifo"),
        (["--source-formats", "jpeg,pdf"], "expected formats separated by commas"),
        (["--allowed-networks", "10.0.0.0/33"], "expected networks"),
        (["--access-log", "maybe"], "expected on, off or errors"),
        (["--port", "1", "--port", "2"], "--port: repeated"),
        (["--client-cache-control", "obey"], "expected ignore or honour"),
        (["--cdn-loop", "a/b"], "invalid value \"a/b\"; expected a name such as alula"),
        (["--base-origin", "a:b"], "invalid value \"a:b\"; expected the name of an origin"),
        (["--cache-tag-header", "a b"], "invalid value \"a b\"; expected the name of a field"),
        (
            ["--admin-hosts", "alula.internal:9091"],
            "invalid value \"alula.internal:9091\"; expected * or host names"
        ),
        (["--allowed-sources", "https://user:secret@example.com"], "--allowed-sources: invalid value"),
        (["--memory-budget", "1MiB"], "expected at least 16MiB, or a share of the memory such as 60%"),
        (["--memory-budget", "101%"], "expected at least 16MiB, or a share of the memory such as 60%"),
    ])
    func `an unknown or invalid setting stops the start and is named`(arguments: [String], message: String) {
        let failure = #expect(throws: SettingsLoader.Failure.self) { try load(arguments) }
        #expect(failure?.lines.contains { $0.contains(message) } == true, "\(failure?.lines ?? [])")
    }

    @Test func `unknown variables and members of the file stop the start`() {
        let failure = #expect(throws: SettingsLoader.Failure.self) {
            try load(
                ["--config", "a.json5"], ["ALULA_NOPE": "1", "ALULA_PROT": "1"], file: "{ nope: 1, maxFrame: 2 }")
        }
        #expect(
            failure?.lines == [
                "ALULA_NOPE: no such setting; see `alula serve --help`",
                "ALULA_PROT: no such setting; did you mean ALULA_PORT?",
                "maxFrame in the settings file: no such setting; did you mean maxFrames?",
                "nope in the settings file: no such setting; see `alula serve --help`",
            ])
    }

    @Test func `jpg is jpeg in a list of formats`() throws {
        #expect(try load(["--source-formats", "jpg,png"]).sandbox.sourceFormats == [.jpeg, .png])
    }

    @Test func `an unreadable settings file has a readable error`() throws {
        let folder = TemporaryFolder()
        folder.write("latin", [0xff, 0xfe, 0x41])
        for (path, reason) in [
            ("none.json5", "there is no such file"), ("", "it is a folder"), ("latin", "it is not UTF-8 text"),
            ("latin/x", "there is no such file"),
        ] {
            #expect(throws: SettingsFileError(reason: reason)) { try SettingsFile.read("\(folder.path)/\(path)") }
        }
    }

    @Test func `a preferred usage above the capacity stops the start`() {
        let failure = #expect(throws: SettingsLoader.Failure.self) {
            try load(["--decoded-cache-capacity", "10MiB", "--decoded-cache-preferred", "11MiB"])
        }
        #expect(failure?.lines.first?.contains("decodedCachePreferred") == true)
    }

    @Test func `names of the admin listener are read`() throws {
        func isServed(_ host: String, _ arguments: [String]) throws -> Bool {
            try load(arguments).api.adminSites.violation(to: HTTPRequest(target: "/", headerFields: [.host: host]))
                == nil
        }
        #expect(try !isServed("alula.internal", []))
        #expect(try isServed("localhost", []))
        #expect(try isServed("alula.internal:9091", ["--admin-hosts", "Alula.internal, other"]))
        #expect(try isServed("any.example", ["--admin-hosts", "*"]))
    }

    @Test func `the limits against floods are read, for the public listener only`() throws {
        let settings = try load([
            "--max-connections", "100", "--max-connections-per-address", "10", "--max-queue-delay", "250ms",
        ])
        #expect(settings.publicListener.maximumConnections == 100)
        #expect(settings.publicListener.maximumConnectionsPerAddress == 10)
        #expect(settings.adminListener.maximumConnectionsPerAddress == nil)
        #expect(settings.pipeline.maximumQueueDelay == .milliseconds(250))
    }

    @Test func `the freshness settings are read`() throws {
        let standard = try load()
        #expect(standard.downloads.staleAllowances.whileRevalidating == 0)
        #expect(standard.downloads.staleAllowances.ifError == 86_400)
        #expect(!standard.api.honorsClientCacheControl)
        let settings = try load([
            "--stale-while-revalidate", "30s", "--stale-if-error", "2h", "--client-cache-control", "honour",
            "--client-max-age-minimum", "1m", "--client-max-age-maximum", "1h", "--client-max-age-fixed", "10m",
        ])
        #expect(settings.downloads.staleAllowances.whileRevalidating == 30)
        #expect(settings.downloads.staleAllowances.ifError == 7_200)
        #expect(settings.api.honorsClientCacheControl)
        #expect(settings.pipeline.clientMaxAge.minimum == 60)
        #expect(settings.pipeline.clientMaxAge.maximum == 3_600)
        #expect(settings.pipeline.clientMaxAge.fixed == 600)
    }

    @Test func `a minimum max-age above the maximum stops the start`() {
        let failure = #expect(throws: SettingsLoader.Failure.self) {
            try load(["--client-max-age-minimum", "2m", "--client-max-age-maximum", "1m"])
        }
        #expect(failure?.lines.first?.contains("clientMaxAgeMinimum") == true)
    }

    @Test func `a wrong key is never shown`() {
        let failure = #expect(throws: SettingsLoader.Failure.self) { try load(["--signing-keys", "c0ffee"]) }
        #expect(failure?.lines.first?.contains("c0ffee") == false)
    }

    @Test(arguments: [("512", 512), ("64KiB", 65_536), ("100MiB", 104_857_600), ("2GiB", 2_147_483_648), ("0", 0)])
    func `sizes are read`(text: String, bytes: Int) throws {
        #expect(try SettingParser.byteSize.parse(text) == bytes)
    }

    @Test(arguments: ["", "1.5MiB", "-1", "1 MiB", "MiB", "99999999999999GiB", "+1"])
    func `an invalid size is rejected`(text: String) {
        #expect(throws: InvalidValue.self) { try SettingParser.byteSize.parse(text) }
    }

    @Test(arguments: [("250ms", 250), ("3s", 3_000), ("10m", 600_000), ("24h", 86_400_000)])
    func `durations are read`(text: String, milliseconds: Int) throws {
        #expect(try SettingParser.duration.parse(text) == .milliseconds(milliseconds))
    }

    fileprivate func load(
        _ arguments: [String] = [], _ environment: [String: String] = [:], file: String = "{}"
    ) throws(SettingsLoader.Failure) -> Settings {
        try SettingsLoader.load(arguments: arguments, environment: environment) { _ in file }
    }
}

extension SettingsLoaderTests {
    @Test(arguments: [
        "https://www.example.com/", "www.example.com", "https://a.com,https://b.com", "https://A.com",
        "https://a.com:443",
        "ftp://a.com", "https://a.com/x", "", "**",
    ])
    func `an origin of pages that no browser sends is rejected`(text: String) throws {
        #expect(throws: SettingsLoader.Failure.self) { try load(["--allow-origin", text]) }
        for allowed in ["*", "null", "https://www.example.com", "http://localhost:3000"] {
            #expect(try load(["--allow-origin", allowed]).api.allowOrigin == allowed)
        }
    }
}
