import Dialects
import Testing

@testable import Settings

/// Warnings at startup about allowed but risky settings.
struct SettingsWarningTests {
    private func warnings(_ arguments: [String]) throws -> [String] {
        let settings = try SettingsLoader.load(arguments: arguments, environment: [:]) { _ in "{}" }
        return settings.warnings(memory: 1 << 30).map { "\($0.message)" }
    }

    @Test(arguments: [
        (["--shutdown-timeout", "3s"], "shutdownTimeout"), (["--request-timeout", "30s"], "shutdownTimeout"),
        (["--allowed-networks", "10.0.0.0/8,0.0.0.0/0"], "allowedNetworks"),
        (["--allowed-networks", "169.254.169.254"], "allowedNetworks"),
        (["--allowed-networks", "169.0.0.0/8"], "allowedNetworks"),
        (["--allowed-networks", "::/0"], "allowedNetworks"),
        (["--allowed-networks", "fe80::/64"], "allowedNetworks"),
        (["--allowed-networks", "fd00::/8"], "allowedNetworks"),
        (["--allowed-networks", "100.64.0.0/10"], "allowedNetworks"),
        (["--admin-bind", "0.0.0.0"], "adminBind"), (["--admin-bind", "::"], "adminBind"),
        (["--admin-bind", "8.8.8.8"], "adminBind"), (["--admin-bind", "10.0.0.1"], "adminBind"),
        (["--memory-budget", "2GiB"], "memoryBudget"),
        (["--thumbor-key", "MY_SECURE_KEY"], "thumborKey"),
    ])
    func `unsafe and contradictory settings have a warning`(arguments: [String], word: String) throws {
        let warnings = try warnings(arguments)
        #expect(warnings.count == 1 && warnings[0].contains(word), "\(warnings)")
    }

    @Test(arguments: [
        [], ["--shutdown-timeout", "15s"], ["--request-timeout", "8s"],
        ["--allowed-networks", "10.0.0.0/8,127.0.0.0/8,fc00::/8"], ["--admin-bind", "127.0.0.2"],
        ["--admin-bind", "::1"], ["--admin-bind", "unix:/run/alula/admin"], ["--memory-budget", "1GiB"],
        ["--memory-budget", "100%"],
        ["--thumbor-key", "MY_SECURE_KEYS"],
    ])
    func `other settings have no warning`(arguments: [String]) throws {
        #expect(try warnings(arguments).isEmpty)
    }

    @Test(arguments: ["100,,200", ",100", "100,", ",", "100, ,200"])
    func `a list has no empty members`(list: String) {
        for flag in ["--sizes", "--allowed-ports", "--allowed-networks", "--auto-formats", "--allowed-sources"] {
            #expect(throws: SettingsLoader.Failure.self, "\(flag)") { try warnings([flag, list]) }
        }
    }

    @Test func `Vercel's formats are a setting`() throws {
        func formats(_ arguments: [String]) throws -> [String] {
            let settings = try SettingsLoader.load(arguments: arguments, environment: [:]) { _ in "{}" }
            return settings.dialects.frontEnds.vercel.formats.map { "\($0)" }
        }
        #expect(try formats([]) == ["avif", "webp"])
        #expect(try formats(["--vercel-formats", "webp"]) == ["webp"] && formats(["--vercel-formats", ""]) == [])
    }
}
