import Coordination
import Crypto
import Dialects
import Downloading
import Testing
import Text
import ThumbnailAPI
import ThumbnailPipeline
import ThumbnailTypes

@testable import Settings

/// Tenants in the settings file, and the effective settings of each.
struct TenantsReaderTests {
    private static let key = String(repeating: "0123456789abcdef", count: 4)
    private static let places = """
        origins: { "shop-media": { url: "https://media.shop.example/" }, news: { url: "https://news.example/" } },
        presets: { card: { w: 300 }, plain: { w: 100 } },
        """

    private func load(_ tenants: String, _ rest: String = "") throws(SettingsLoader.Failure) -> Settings {
        try SettingsLoader.load(
            arguments: ["--config", "a.json5"], environment: ["SHOP_KEY": Self.key]
        ) { _ in "{ \(Self.places) \(rest) tenants: { \(tenants) } }" }
    }

    private func rejection(of tenants: String, _ rest: String = "") -> String? {
        do {
            _ = try load(tenants, rest)
            return nil
        } catch {
            return error.locatedLines.joined(separator: "\n")
        }
    }

    @Test func `a tenant shares sources only if both want it, and the same rules hold`() throws {
        let settings = try load(
            """
            a: { hosts: ["a"] }, b: { hosts: ["b"], shareSources: "on" },
            c: { hosts: ["c"], shareSources: "on", maxSourceBytes: "1KiB" },
            """)
        let owners = settings.allTenants.map { settings.narrowed(to: $0).downloads.tenant?.string }
        #expect(owners == [nil, "a", nil, "c"])
        #expect(settings.tenantDownloads.compactMap(\.tenant?.string) == ["c"], "others need no rules of their own")
    }

    @Test func `a tenant has keys, hosts, origins, presets and limits`() throws {
        let settings = try load(
            """
            shop: {
              keys: [{ id: "2026-11", secret: { env: "SHOP_KEY" } }], hosts: ["img.shop.example"],
              origins: ["shop-media"], allowedSources: ["https://cdn.shop.example/*"], presets: ["card"],
              sizes: [640, 320], maxSourceBytes: "16MiB", maxSourcePixels: 30000000, maxOutputPixels: 4000000, rate: "200/s", processorTime: "30s/1m", originBytes: "50GiB/24h",
            }
            """)
        let shop = settings.narrowed(to: try #require(settings.tenants.first))
        #expect(shop.api.tenant == "shop" && shop.api.signingKeys.isEmpty)
        #expect(shop.api.namedKeys == [.init(id: "2026-11", bytes: try #require(Hexadecimal.decode(Self.key)))])
        #expect(shop.downloads.origins.all.map(\.name) == ["shop-media"])
        #expect(Array(shop.api.vocabulary.presets.keys) == ["card"])
        #expect(shop.api.vocabulary.sizes.sizes == [320, 640] && shop.api.vocabulary.sizes.limitsSigned)
        #expect(shop.downloads.maximumBytes == 16 << 20 && shop.api.maximumUploadBytes == 16 << 20)
        #expect(shop.api.requestLimits.maximumSourcePixels == 30_000_000)
        #expect(shop.api.requestLimits.maximumOutputPixels == 4_000_000)
        let limits = settings.tenants[0].limits
        #expect(
            limits.rate == Quota(200, per: .seconds(1)) && limits.originBytes == Quota(50 << 30, per: .seconds(86_400)))
        #expect(limits.processorTime == Quota(30_000_000_000, per: .seconds(60)))
        #expect(shop.downloads.tenantSources.map(\.description) == ["https://cdn.shop.example/*"])
    }

    @Test func `a tenant has its origins and presets alone, and others have the rest`() throws {
        let settings = try load(
            #"shop: { hosts: ["a.example"], origins: ["shop-media"], presets: ["card"] }, b: { hosts: ["b.example"] }"#)
        let all = settings.allTenants
        #expect(all.map(\.name) == ["default", "b", "shop"])
        for tenant in all.prefix(2) {
            let narrowed = settings.narrowed(to: tenant)
            #expect(narrowed.downloads.origins.all.map(\.name) == ["news"])
            #expect(Array(narrowed.api.vocabulary.presets.keys) == ["plain"])
        }
    }

    @Test func `a tenant's limits hold only where they are smaller`() throws {
        let settings = try load(
            #"shop: { hosts: ["a.example"], maxSourceBytes: "1GiB", sizes: [100, 300] }"#, "sizes: [100, 200],")
        let shop = settings.narrowed(to: settings.allTenants[1])
        #expect(shop.downloads.maximumBytes == 64 << 20 && settings.tenantDownloads.isEmpty)
        #expect(shop.api.vocabulary.sizes.sizes == [100])
    }

    @Test func `a tenant's keys close the tenant alone`() throws {
        let settings = try load(
            #"shop: { keys: [{ id: "t", kind: "thumbor", secret: "a key" }] }, open: { hosts: ["b.example"] }"#,
            "thumborPath: '/t', signingKeys: ['\(Self.key)'],")
        let closed = settings.allTenants.map { settings.narrowed(to: $0).api.closedDialects }
        #expect(closed == [["thumbor"], [], ["native"]])
        #expect(settings.narrowed(to: settings.allTenants[2]).api.keyIDs["thumbor"] == ["t"])
    }

    @Test func `the default can be configured, and keeps the service's keys`() throws {
        let settings = try load(
            #"default: { keys: [{ id: "d", secret: { env: "SHOP_KEY" } }], presets: ["card"] }"#,
            "signingKeys: ['\(String(Self.key.reversed()))'],")
        let narrowed = settings.narrowed(to: settings.allTenants[0])
        #expect(narrowed.api.signingKeys.count == 1 && narrowed.api.namedKeys?.map(\.id) == ["d"])
        #expect(Array(narrowed.api.vocabulary.presets.keys) == ["card"])
    }

    @Test func `each error is named with its place`() {
        let key = "{ id: 'a', secret: '\(Self.key)' }"
        for (tenants, place) in [
            ("shop: {}", "tenants.shop"), ("Shop: { hosts: ['a'] }", "tenants.Shop"),
            ("shop: { hosts: ['a'], host: 'b' }", "tenants.shop.host in"),
            ("shop: { hosts: ['a:80'] }", "tenants.shop.hosts"),
            ("a: { hosts: ['h'] }, b: { hosts: ['h'] }", "tenants.b.hosts"),
            ("a: { keys: [\(key)] }, b: { keys: [\(key)] }", "tenants.b.keys.0.id"),
            ("a: { keys: [{ id: 'a', secret: 'ab' }] }", "tenants.a.keys.0.secret"),
            ("a: { keys: [{ id: 'a', secret: { env: 'NONE' } }] }", "tenants.a.keys.0.secret"),
            ("a: { keys: [{ id: 'a b', secret: '\(Self.key)' }] }", "tenants.a.keys.0.id"),
            ("a: { keys: [{ id: 'a', kind: 'thumbor', secret: 'key' }] }", "tenants.a.keys.0.kind"),
            ("a: { keys: [{ id: 'a', salt: '00', secret: '\(Self.key)' }] }", "tenants.a.keys.0.salt"),
            ("a: { hosts: ['a'], origins: ['none'] }", "tenants.a.origins"),
            ("a: { hosts: ['a'], presets: ['none'] }", "tenants.a.presets"),
            ("a: { hosts: ['a'], allowedSources: ['ftp://a'] }", "tenants.a.allowedSources"),
            ("a: { hosts: ['a'], sizes: [0] }", "tenants.a.sizes"),
            ("a: { hosts: ['a'], rate: 5 }", "tenants.a.rate"), ("a: { hosts: ['a'], rate: '0/s' }", "tenants.a.rate"),
            ("a: { hosts: ['a'], processorTime: '5/s' }", "tenants.a.processorTime"),
            ("a: { hosts: ['a'], originBytes: '5GiB/0s' }", "tenants.a.originBytes"),
            ("a: { hosts: ['a'], maxSourceBytes: '1MB' }", "tenants.a.maxSourceBytes"),
        ] {
            let text = rejection(of: tenants)
            #expect(
                text?.contains(place) == true && text?.hasPrefix("a.json5:") == true, "\(tenants): \(text ?? "taken")")
        }
        #expect(rejection(of: "a: { hosts: ['a'], sizes: [1] }", "sizes: [2],")?.contains("tenants.a.sizes") == true)
    }

    @Test func `a key that changes behind the same name is a change of the tenants`() throws {
        let tenants = "shop: { keys: [{ id: 'a', secret: { env: 'SHOP_KEY' } }] }"
        let before = try load(tenants)
        var after = before
        after.tenants = try load(tenants.replacing("{ env: 'SHOP_KEY' }", with: "'\(String(Self.key.reversed()))'"))
            .tenants
        after.texts = before.texts
        let reloaded = try ReloadedSettings(before, changedTo: after)
        #expect(reloaded.changed == ["tenants"] && reloaded.settings.tenants == after.tenants)
    }
}
