import HTTPTypes
import TestSupport
import Testing
import Text

@testable import Downloading

/// The settings before and after a reload.
struct DownloadRulesTests {
    private var configuration = DownloadConfiguration()

    private func identity(_ source: ExactText, _ rules: DownloadRules) throws -> SourceIdentity {
        try rules.identity(of: source)
    }

    private static func origin(_ base: String, _ change: (inout Origin) -> Void = { _ in }) throws -> Origin {
        var origin = Origin(name: "shop", location: .web(base: try SourceURL(parsing: base)))
        change(&origin)
        return origin
    }

    @Test func `an unchanged origin keeps its rules, and with them its connections`() throws {
        let before = DownloadRules(DownloadConfiguration(origins: [try Self.origin("http://h/")]))
        let after = DownloadRules(DownloadConfiguration(origins: [try Self.origin("http://h/")]), after: before)
        #expect(before["shop"] === after["shop"] && before.unnamed === after.unnamed)
    }

    @Test func `an origin with another URL, credential or folder is another origin`() throws {
        let folder = Origin(name: "shop", location: .folder(path: "/a"))
        let variants = [
            try Self.origin("http://h/"), try Self.origin("http://other/"),
            try Self.origin("http://h/") { $0.credentials = .bearer(Secret("token")) }, folder,
            Origin(name: "shop", location: .folder(path: "/b")),
        ]
        let identities = try variants.map { origin in
            try identity("shop:a", DownloadRules(DownloadConfiguration(origins: [origin])))
        }
        #expect(Set(identities).count == variants.count)
    }

    @Test func `an origin that returns to earlier settings does not use what they had cached`() throws {
        let (one, two) = (
            try Self.origin("http://h/"), try Self.origin("http://h/") { $0.credentials = .bearer(Secret("t")) }
        )
        let first = DownloadRules(DownloadConfiguration(origins: [one]))
        for between in [[two], []] {
            let second = DownloadRules(DownloadConfiguration(origins: between), after: first)
            let third = DownloadRules(DownloadConfiguration(origins: [one]), after: second)
            #expect(try identity("shop:a", first) != identity("shop:a", third))
        }
    }

    @Test func `an origin with other limits is the same source, and has its own connections`() throws {
        let before = DownloadRules(DownloadConfiguration(origins: [try Self.origin("http://h/")]))
        let changed = try Self.origin("http://h/") { $0.limits.maximumBytes = 1 }
        let after = DownloadRules(DownloadConfiguration(origins: [changed]), after: before)
        #expect(before["shop"] !== after["shop"])
        #expect(try identity("shop:a", before) == identity("shop:a", after))
    }

    @Test func `tenants with rules of their own share no sources, and others see their part of the service's`() throws {
        var service = DownloadConfiguration(origins: [
            try Self.origin("http://h/"), Origin(name: "news", location: .folder(path: "/n")),
        ])
        let configurations = ["a", "b"].map { name in
            var configuration = service
            configuration.tenant = ExactText(name)
            configuration.tenantSources = [SourcePattern("https://cdn.example/*")].compactMap(\.self)
            return configuration
        }
        let rules = DownloadRules(service, tenants: configurations)
        service.origins = service.origins.without(["news"])
        let views = (configurations + [service]).map { rules.narrowed(to: $0) }
        let identities = try views.map { try identity("https://cdn.example/a", $0) }
        #expect(Set(identities).count == 3)
        #expect(try identities[2] == identity("https://cdn.example/a", rules))
        #expect(try identity("shop:a", views[2]) == identity("shop:a", rules))
        #expect(throws: SourceURLError.self) { try identity("news:a", views[2]) }
        #expect(identities.map { $0.rules.violation(toFetching: $0.url) } == [nil, nil, nil])
        let other = try views.map { try identity("https://other.example/a", $0) }
        #expect(other.map { $0.rules.violation(toFetching: $0.url) != nil } == [true, true, false])
        #expect(
            try Set(rules.tenantIdentities(of: identity("https://cdn.example/a", rules))) == Set(identities.prefix(2)))
        let reloaded = DownloadRules(rules.configuration, after: rules, tenants: configurations)
        #expect(try identity("https://cdn.example/a", reloaded.narrowed(to: configurations[0])) == identities[0])
    }

    @Test func `stored sources stay valid while the rules only allow more`() throws {
        var configuration = DownloadConfiguration()
        configuration.allowedSources = [SourcePattern("https://a.example/*")].compactMap(\.self)
        let before = DownloadRules(configuration)
        configuration.allowedSources += [SourcePattern("https://b.example/*")].compactMap(\.self)
        configuration.allowedNetworks = [AddressNetwork("10.0.0.0/8")].compactMap(\.self)
        configuration.allowedPorts.insert(8_080)
        let wider = DownloadRules(configuration, after: before)
        let source: ExactText = "https://a.example/a"
        #expect(try identity(source, before) == identity(source, wider))
        #expect(before.unnamed.key != wider.unnamed.key)
    }

    @Test(arguments: 0..<4)
    func `stored sources are not used once the rules forbid something`(variant: Int) throws {
        var configuration = DownloadConfiguration()
        configuration.allowedNetworks = [AddressNetwork("10.0.0.0/8")].compactMap(\.self)
        let before = DownloadRules(configuration)
        switch variant {
        case 0: configuration.allowedNetworks = []
        case 1: configuration.deniedNetworks = [AddressNetwork("192.0.2.0/24")].compactMap(\.self)
        case 2: configuration.allowedPorts = [443]
        default: configuration.allowedSources = [SourcePattern("https://a.example/*")].compactMap(\.self)
        }
        let after = DownloadRules(configuration, after: before)
        let source: ExactText = "https://a.example/a"
        #expect(try identity(source, before) != identity(source, after))
        // Entries stored in between are not found again.
        let again = DownloadRules(before.configuration, after: after)
        #expect(try identity(source, before) != identity(source, again))
        #expect(try identity(source, after) == identity(source, again))
    }

    @Test func `a redirect of an unchanged origin is checked by the new rules`() throws {
        var configuration = DownloadConfiguration(origins: [try Self.origin("http://h/")])
        let before = DownloadRules(configuration)
        configuration.allowedPorts = [443]
        let after = DownloadRules(configuration, after: before)
        #expect(after["shop"]?.unnamed.configuration.allowedPorts == [443])
        #expect(before["shop"]?.unnamed.configuration.allowedPorts == [80, 443])
    }
}
