import Downloading
import HTTPTypes
import Testing
import ThumbnailAPI

@testable import Composition
@testable import Settings
@testable import Webhooks

/// Settings of purge hooks and callback hosts.
struct NotificationSettingsTests {
    private func load(
        _ file: String, _ environment: [String: String] = [:], arguments: [String] = []
    ) throws(SettingsLoader.Failure) -> Settings {
        try SettingsLoader.load(arguments: ["--config", "f"] + arguments, environment: environment) {
            (_) throws(SettingsFileError) in file
        }
    }

    @Test func `hooks are read in their order, with secrets of the environment`() throws {
        let file = """
            { purgeHooks: [
              { url: "https://api.example/purge", headers: { Authorization: { env: "TOKEN" }, "X-Url": "{url}" },
                body: { files: ["{url}"] } },
              { url: "http://varnish:6081/", method: "BAN", headers: { Host: "images.example" } },
            ] }
            """
        let settings = try load(file, ["TOKEN": "Bearer x"])
        let purge = PurgeReport(url: "http://h/a")
        #expect(settings.notifying.isUsed && settings.notifying.hooks.count == 2)
        let calls = settings.notifying.hooks.flatMap { $0.calls(for: purge) }
        #expect(calls.map(\.method.rawValue) == ["POST", "BAN"])
        #expect(calls[0].fields[.authorization] == "Bearer x")
        #expect(calls[0].fields.contains { $0.value == "http://h/a" })
        #expect(String(decoding: calls[0].body, as: UTF8.self) == #"{"files":["http://h/a"]}"#)
        #expect(calls[1].fields[.host] == "images.example")
    }

    @Test(arguments: [
        ("{ purgeHooks: {} }", "purgeHooks in the settings file: expected a list"),
        ("{ purgeHooks: [1] }", "purgeHooks.0 in the settings file: expected an object with url"),
        ("{ purgeHooks: [{ url: 'http://h/' }, {}] }", "purgeHooks.1.url in the settings file"),
        ("{ purgeHooks: [{ url: 'http://{tag}/' }] }", "purgeHooks.0.url in the settings file"),
        ("{ purgeHooks: [{ url: 'http://h/', method: 'A B' }] }", "purgeHooks.0.method in the settings file"),
        ("{ purgeHooks: [{ url: 'http://h/', mthod: 'A' }] }", "purgeHooks.0.mthod"),
        ("{ purgeHooks: [{ url: 'http://h/', body: '{' }] }", "purgeHooks.0.body in the settings file"),
        ("{ purgeHooks: [{ url: 'http://h/', headers: { A: { env: 'NO' } } }] }", "purgeHooks.0.headers.A"),
        ("{ purgeHooks: [{ url: 'http://h/', headers: { 'Content-Length': '3' } }] }", "purgeHooks.0.headers"),
        ("{ callbackHosts: ['a/b'] }", "callbackHosts in the settings file"),
    ])
    func `an invalid value stops the start by its name`(file: String, line: String) {
        #expect {
            try load(file)
        } throws: {
            ($0 as? SettingsLoader.Failure)?.lines.first?.hasPrefix(line) == true
        }
    }

    @Test func `a field with another meaning cannot hold the tags`() throws {
        #expect(try load("{}").api.cacheTagField == nil)
        #expect(try load("{ cacheTagHeader: 'Surrogate-Key' }").api.cacheTagField?.name.rawName == "Surrogate-Key")
        for wrong in ["ETag", "a b"] {
            #expect(throws: SettingsLoader.Failure.self) { try load("{ cacheTagHeader: '\(wrong)' }") }
        }
    }

    @Test func `callbacks need a host in the list, and private ones an allowed network`() throws {
        func violation(_ url: String, _ arguments: [String]) throws -> String? {
            let settings = try load("{}", arguments: arguments)
            return settings.notifying.violation(
                toCallback: try SourceURL(parsing: url), by: DownloadRules(settings.downloads))
        }
        let hosts = ["--callback-hosts", "hooks.example,127.0.0.1"]
        #expect(try violation("https://hooks.example/", hosts) == nil)
        #expect(try violation("https://hooks.example/", [])?.hasPrefix("callbackHosts") == true)
        #expect(try violation("http://127.0.0.1:81/", hosts)?.hasPrefix("allowedNetworks") == true)
        let open = ["--allowed-networks", "127.0.0.0/8"]
        #expect(try violation("http://127.0.0.1:81/", hosts + open) == nil)
        #expect(try violation("http://127.0.0.1:81/", open)?.hasPrefix("callbackHosts") == true)
        // `--allowed-sources` applies only to sources.
        #expect(try violation("https://hooks.example/", hosts + ["--allowed-sources", "https://a.example/*"]) == nil)
    }
}
