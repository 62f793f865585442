import Dialects
import Downloading
import SharedCaching
import TestSupport
import Testing
import ThumbnailAPI

@testable import Settings

/// Sources of keys and secrets, which no error shows.
struct SecretSettingsTests {
    private let folder = TemporaryFolder()

    private func load(
        _ file: String = "{}", _ environment: [String: String] = [:], _ arguments: [String] = []
    ) throws(SettingsLoader.Failure) -> Settings {
        try SettingsLoader.load(arguments: ["--config", "a.json5"] + arguments, environment: environment) { _ in file }
    }

    private func problems(
        _ file: String = "{}", _ environment: [String: String] = [:], _ arguments: [String] = []
    ) -> [String] {
        do throws(SettingsLoader.Failure) {
            _ = try load(file, environment, arguments)
            return []
        } catch { return error.lines }
    }

    private static let secrets = SettingTable.all.filter { $0.secrecy == .secret }
    private static let key = String(repeating: "ab", count: 32)

    @Test(arguments: secrets.map(\.name))
    func `every secret may be named by a variable or a file`(name: String) throws {
        folder.write("key", Array("\(Self.key)\n".utf8))
        // Each of imgproxy's keys needs a salt.
        let other = ["imgproxyKeys": "imgproxySalts", "imgproxySalts": "imgproxyKeys"][name]
        let beside = other.map { ", \($0): \"\(Self.key)\"" } ?? ""
        let written = try load("{ \(name): \"\(Self.key)\"\(beside) }")
        for form in ["{ env: \"KEY\" }", "{ file: \"\(folder.path)/key\" }"] {
            let named = try load("{ \(name): \(form)\(beside) }", ["KEY": Self.key])
            #expect("\(named.api.signingKeys)" == "\(written.api.signingKeys)")
            let (ours, theirs) = (named.dialects, written.dialects)
            #expect(ours.thumbor.key == theirs.thumbor.key && ours.imaginary.key == theirs.imaginary.key)
            #expect(ours.imaginary.signatureKey == theirs.imaginary.signatureKey)
            #expect(ours.imgproxy.keys == theirs.imgproxy.keys && ours.imgproxy.salts == theirs.imgproxy.salts)
            #expect(ours.imgproxy.trustedSignatures == theirs.imgproxy.trustedSignatures)
            #expect(named.sharedCache.credentials.key == written.sharedCache.credentials.key)
            #expect(named.sharedCache.credentials.password == written.sharedCache.credentials.password)
        }
    }

    @Test func `a list of keys may hold both forms beside texts`() throws {
        folder.write("key", Array(String(repeating: "cd", count: 32).utf8))
        let file = "{ signingKeys: [\"\(Self.key)\", { file: \"\(folder.path)/key\" }, { env: \"KEY\" }] }"
        let keys = try load(file, ["KEY": String(repeating: "ef", count: 32)]).api.signingKeys
        #expect(keys.map(\.first) == [0xab, 0xcd, 0xef] && keys.allSatisfy { $0.count == 32 })
    }

    @Test func `the secrets of an origin may be in files`() throws {
        folder.write("token", Array("geheim\r\n".utf8))
        let file =
            "{ origins: { a: { url: \"https://a.example\", credentials: { bearer: { file: \"\(folder.path)/token\" } } } } }"
        let credentials = try load(file).downloads.origins.all.first?.credentials
        guard case .bearer(let secret)? = credentials else {
            Issue.record("no credentials")
            return
        }
        #expect(secret.text == "geheim")
    }

    @Test(arguments: [
        "{ env: \"UNSET\" }", "{ env: \"EMPTY\" }", "{ env: \"BLANK\" }", "{ file: \"/nowhere/key\" }",
        "{ file: \"/tmp\" }",
        "{ env: \"A\", file: \"b\" }", "{ ENV: \"A\" }", "{}", "null", "true", "1234", "[1.5]", "[{ env: \"UNSET\" }]",
        "\"\"", "\"  \"", "[]",
        "'{ env: \"A\" }'", "'{\"file\":\"/a\"}'", "{ env: \"LINES\" }", "'${A}'", "'$(A)'", "'$A'", "'%A%'",
        "'{{ .a }}'",
        "'env:A'", "' file:/a'", "{ env: \"UNREPLACED\" }", "'\u{200b}'", "'\u{feff}\u{2060} '", "'\u{2800}'", "','",
        "'\"\"'",
        "'000000000000000000000000000000000000000000000000000000000000000000'", "'aaaa'",
        "'abababababababababababababababababababababababababababababababab,00000000000000000000000000000000'",
    ])
    func `an unavailable secret stops the start by its name`(value: String) {
        let environment = ["EMPTY": "", "BLANK": " \t\n", "A": "a", "LINES": "a\nb", "UNREPLACED": "${A}"]
        for setting in Self.secrets {
            let lines = problems("{ \(setting.name): \(value) }", environment)
            #expect(
                lines.count == 1 && lines[0].hasPrefix("\(setting.name) in the settings file: invalid value"),
                "\(lines)")
        }
    }

    @Test func `no setting accepts an object or null for a text`() {
        let objects = ["origins", "purgeHooks", "presets", "watermarks", "tenants"]
        for setting in SettingTable.all where setting.secrecy != .secret && !objects.contains(setting.name) {
            for value in ["{ env: \"A\" }", "null", "[{ file: \"a\" }]"] {
                let lines = problems("{ \(setting.name): \(value) }", ["A": "1"])
                #expect(lines.contains { $0.hasPrefix("\(setting.name) in the settings file: ") }, "\(setting.name)")
            }
        }
    }

    @Test(arguments: ["{ env: A }", "{\"file\": \"/a\"}", " {File:'/a'}"])
    func `a reference where only text is taken is an error in the environment and among the flags`(text: String) {
        for setting in SettingTable.all where setting.secrecy != .secret && setting.readObject == nil {
            let line = problems("{}", [setting.environmentName: text]).first
            #expect(line?.hasPrefix("\(setting.environmentName): invalid value") == true, "\(setting.name)")
            #expect(problems("{}", [:], ["\(setting.flag)=\(text)"]).first?.hasPrefix(setting.flag) == true)
        }
        #expect(problems("{ userAgent: '{ env: A }' }").count == 1)
    }

    @Test(arguments: ["env", "file"])
    func `a reference instead of fields is an error`(kind: String) {
        let lines = problems("{ origins: { a: { url: 'https://h/', headers: { \(kind): 'A' } } } }", ["A": "a"])
        #expect(lines.count == 1 && lines[0].hasPrefix("origins.a.headers in the settings file: "), "\(lines)")
    }

    @Test(arguments: ["env", "file"])
    func `a reference instead of the body of a hook is an error`(kind: String) {
        let hook = "url: 'https://cdn.example/purge'"
        let lines = problems("{ purgeHooks: [{ \(hook), body: { \(kind): 'A' } }] }", ["A": "a"])
        #expect(lines.count == 1 && lines[0].hasPrefix("purgeHooks.0.body in the settings file: "), "\(lines)")
        #expect(problems("{ purgeHooks: [{ \(hook), body: { \(kind): '{url}' } }] }").isEmpty)
    }

    @Test(arguments: ["", " ", "\n", "{ env: \"A\" }", "{file: '/a'}", "${A}", "env:A", ",", "\"\"", "\u{200b}"])
    func `a blank key is an error in the environment and among the flags`(text: String) {
        for setting in Self.secrets {
            let line = problems("{}", [setting.environmentName: text]).first
            #expect(line?.hasPrefix("\(setting.environmentName): invalid value") == true)
            #expect(problems("{}", [:], [setting.flag, text]).count == 1, "\(setting.name)")
        }
    }

    @Test(arguments: ["ALULA_SHARED_CACHE_KEY", "ALULA_SHARED_CACHE_PASSWORD"])
    func `blank credentials of the shared cache are an error`(name: String) {
        for text in ["", "  ", "\u{200b}", "${KEY}"] {
            #expect(problems("{}", [name: text]).map { $0.hasPrefix("\(name): invalid value") } == [true])
        }
    }

    @Test(arguments: [
        ("imgproxy", "IMGPROXY_KEY"), ("imgproxy", "IMGPROXY_TRUSTED_SIGNATURES"), ("imagor", "IMAGOR_SECRET"),
        ("imaginary", "IMAGINARY_KEY"),
    ])
    func `a blank key in another service's environment is an error`(service: String, name: String) {
        for text in ["", ",", "\"\"", "${KEY}", "\u{200b}"] {
            let lines = ForeignContainer(service: service).problems([name: text])
            #expect(lines.contains { $0.hasPrefix("\(name): invalid value") }, "\(text): \(lines)")
        }
    }

    @Test func `no error repeats a URL or a secret`() {
        let urls = SettingTable.all.filter { $0.secrecy != .none }.map(\.flag)
        #expect(Set(["--metrics-endpoint", "--trace-endpoint", "--shared-cache", "--signing-keys"]).isSubset(of: urls))
        for flag in urls {
            for text in ["ftp://h/?k=SECRET", "h/SECRET#", "SECRET,,"] {
                #expect(!problems("{}", [:], [flag, text]).contains { $0.contains("SECRET") }, "\(flag)")
            }
        }
        for arguments in [
            ["--port", "http://SECRET"], ["--signing-key=SECRET"], ["--nope=SECRET"], ["--thumbor-key", "a", "SECRET"],
        ] {
            let lines = problems("{}", [:], arguments)
            #expect(!lines.isEmpty && !lines.contains { $0.contains("SECRET") }, "\(lines)")
        }
    }
}
