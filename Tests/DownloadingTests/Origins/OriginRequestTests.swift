import Coordination
import Downloading
import HTTPTypes
import Memory
import TestSupport
import Testing
import Text

/// Fields that only requests to named origins have.
@Suite(.timeLimit(.minutes(1)))
struct OriginRequestTests {
    @Test func `an origin's fields replace the default ones, null omits one`() async throws {
        let fixture = try OriginFixture()
        let load = try fixture.loader { origin in
            origin.fields = [
                (.userAgent, Secret("Special/2")), (.accept, nil), (try name("X-Tenant"), Secret("a")),
                (try name("X-Empty"), Secret("")),
            ]
        }
        try await load("photos:a")
        let fields = try #require(fixture.origin.requests.first).fields.map { "\($0.name): \($0.value)" }
        #expect(
            fields.sorted() == [
                "Accept-Encoding: identity", "Host: 127.0.0.1:\(fixture.origin.port)", "User-Agent: Special/2",
                "X-Empty: ", "X-Tenant: a",
            ])
    }

    @Test func `no user agent differs from the default one`() async throws {
        let fixture = try OriginFixture()
        let load = try fixture.loader { $0.fields = [(.userAgent, nil)] }
        try await load("photos:a")
        #expect(fixture.origin.requests.first?.value("User-Agent") == nil)
        #expect(fixture.origin.requests.first?.value("Accept") != nil)
    }

    @Test(arguments: [
        (OriginCredentials.basic(user: "alula", password: Secret("pass:wörd")), "Basic YWx1bGE6cGFzczp3w7ZyZA=="),
        (.bearer(Secret("t0ken")), "Bearer t0ken"),
    ])
    func `credentials are sent`(credentials: OriginCredentials, expected: String) async throws {
        let fixture = try OriginFixture()
        let load = try fixture.loader { $0.credentials = credentials }
        try await load("photos:a")
        #expect(fixture.origin.requests.first?.value("Authorization") == expected)
    }

    @Test func `credentials and fields are sent to their own host only`() async throws {
        let fixture = try OriginFixture()
        let other = try FakeOrigin(address: "127.0.0.2")
        fixture.origin.serve("/away", .redirect(to: other.url("/b")))
        fixture.origin.serve("/port", .redirect(to: "http://127.0.0.1:\(other.port)/b"))
        fixture.origin.serve("/here", .redirect(to: "/a"))
        other.serve("/b", .redirect(to: fixture.origin.url("/back")))
        fixture.origin.serve("/back", .image([2]))
        let load = try fixture.loader(networks: ["127.0.0.0/8"]) { origin in
            origin.credentials = .bearer(Secret("t0ken"))
            origin.fields = [(try name("X-Key"), Secret("k"))]
        }
        try await load("photos:here")
        #expect(fixture.origin.requests.allSatisfy { $0.value("Authorization") == "Bearer t0ken" })
        try await load("photos:away")
        let foreign = try #require(other.requests.first)
        #expect(foreign.value("Authorization") == nil)
        #expect(foreign.value("X-Key") == nil)
        #expect(foreign.value("User-Agent") == "Alula/1")
        // A redirect back from elsewhere gets no credentials.
        #expect(fixture.origin.requests.last?.target == "/back")
        #expect(fixture.origin.requests.last?.value("Authorization") == nil)
    }

    @Test func `forwarded fields replace those of the service, byte for byte`() async throws {
        let fixture = try OriginFixture()
        let configuration = try fixture.configuration { origin in
            origin.forwarded = ["User-Agent", "X-Name", "X-Empty"].compactMap { ForwardedField($0) }
        }
        let loader = try CurlLoader(configuration: configuration)
        let identity = try DownloadRules(configuration).identity(of: "photos:a").forwarding(
            [.userAgent: "Client/1", try name("X-Name"): "caf\u{e9}", try name("X-Empty"): "", .authorization: "no"])
        _ = try await loader.load(TransferRequest(identity: identity), progress: TransferProgress())
        let request = try #require(fixture.origin.requests.first)
        #expect(request.fields.filter { $0.name == "User-Agent" }.map(\.value) == ["Client/1"])
        // The byte is not valid UTF-8.
        #expect(request.value("X-Name") == "caf\u{fffd}")
        #expect(request.value("X-Empty") == nil && request.value("Authorization") == nil)
        #expect(request.value("Accept") != nil)
    }

    @Test func `sources of clients with other fields are others, and print no field`() throws {
        var origin = Origin(name: "photos", location: .web(base: try SourceURL(parsing: "http://h/")))
        origin.forwarded = [try #require(ForwardedField("Authorization")), try #require(ForwardedField("X-Team"))]
        let source = try DownloadRules(DownloadConfiguration(origins: [origin])).identity(of: "photos:a")
        let team = try name("X-Team")
        let all = try [
            [:], [.authorization: "hidden"], [.authorization: "hidden2"], [team: "hidden"],
            [.authorization: "hidden", team: "hidden"],
        ].map { try source.forwarding($0) }
        #expect(Set(all).count == all.count)
        #expect(try source.forwarding([team: "hidden", .authorization: "hidden", .accept: "x"]) == all[4])
        #expect(try all[2].forwarding([.authorization: "hidden"]) == all[1])
        for identity in all {
            #expect(identity.name == "photos:a" && source.wildcard.matches(identity))
            #expect(identity.wildcard == source.wildcard && identity.withoutFields == source)
            #expect(!identity.matches(source.wildcard))
            var dumped = ""
            dump(identity, to: &dumped)
            #expect(!"\(identity)\(String(reflecting: identity))\(dumped)".contains("hidden"))
        }
        #expect(all.allSatisfy { one in all.count { one.matches($0) } == 1 })
    }

    @Test func `an absolute URL of an origin's host gets neither its credentials nor its addresses`() async throws {
        let fixture = try OriginFixture()
        let load = try fixture.loader { $0.credentials = .bearer(Secret("t0ken")) }
        await #expect { try await load(fixture.origin.url("/a")) } throws: { isDenied($0, by: "allowedNetworks") }
        #expect(fixture.origin.connectionCount == 0)
        let open = try fixture.loader(networks: ["127.0.0.0/8"]) { $0.credentials = .bearer(Secret("t0ken")) }
        try await open(fixture.origin.url("/a"))
        #expect(fixture.origin.requests.first?.value("Authorization") == nil)
    }

    @Test func `an origin may be private, and its redirects are checked as strangers' sources`() async throws {
        let fixture = try OriginFixture()
        let other = try FakeOrigin(address: "127.0.0.2")
        fixture.origin.serve("/away", .redirect(to: other.url("/b")))
        fixture.origin.serve("/here", .redirect(to: "/a"))
        let load = try fixture.loader(patterns: ["https://*.example.com/*"]) { _ in }
        try await load("photos:a")
        try await load("photos:here")
        await #expect { try await load("photos:away") } throws: { isDenied($0, by: "allowedSources") }
        #expect(other.connectionCount == 0)
    }

    @Test func `origins at one address share no connection with each other or with strangers`() async throws {
        let fixture = try OriginFixture()
        let load = try fixture.loader(names: ["one", "two"], networks: ["127.0.0.0/8"]) { origin in
            origin.credentials = .bearer(Secret("of \(origin.name)"))
        }
        for _ in 0..<3 {
            for source in ["one:a", "two:a", fixture.origin.url("/a")] { try await load(source) }
        }
        #expect(fixture.origin.connectionCount == 3)
        #expect(
            fixture.origin.requests.map { $0.value("Authorization") ?? "" }
                == Array(repeating: ["Bearer of one", "Bearer of two", ""], count: 3).flatMap { $0 })
    }

    @Test func `origins at one address share no fetch`() async throws {
        let fixture = try OriginFixture()
        let gate = Gate()
        fixture.origin.serve("/a", .image([1]).held(at: gate))
        let configuration = try fixture.configuration(names: ["one", "two"]) { origin in
            origin.credentials = .bearer(Secret("of \(origin.name)"))
        }
        let downloader = ImageDownloader(
            rules: DownloadRules(configuration), loader: try CurlLoader(configuration: configuration),
            cache: StubCache(),
            timekeeper: SystemTimekeeper())
        let tasks = try ["one:a", "two:a", "one:a"].map { source in
            let identity = try downloader.identity(of: ExactText(source))
            return Task.immediate {
                try await downloader.download(SourceRequest(identity: identity), receipt: source).participation
            }
        }
        await gate.arrivals(2)
        gate.open()
        var participations: [Participation] = []
        for task in tasks { participations.append(try await task.value) }
        #expect(participations == [.started, .started, .joined])
        #expect(Set(fixture.origin.requests.compactMap { $0.value("Authorization") }).count == 2)
    }

    @Test func `an origin's limits apply to it alone`() async throws {
        let fixture = try OriginFixture()
        fixture.origin.serve("/a", .image(bytes(1_000)))
        fixture.origin.serve("/silent", .silence)
        // Time stands still until the origin is silent.
        let time = ManualTimekeeper()
        let load = try fixture.loader(networks: ["127.0.0.0/8"], timekeeper: time) { origin in
            origin.limits.maximumBytes = 999
            origin.limits.firstByteTimeout = .milliseconds(50)
            origin.limits.maximumRedirects = 0
        }
        await #expect(throws: DownloadError.tooLarge) { try await load("photos:a") }
        let silent = Task { try await load("photos:silent") }
        await fixture.origin.reachedHits(1, of: "/silent")
        let outcome = await time.pass(by: .milliseconds(50), until: silent)
        #expect(throws: DownloadError.timedOut) { try outcome.get() }
        fixture.origin.serve("/here", .redirect(to: "/a"))
        await #expect(throws: DownloadError.tooManyRedirects) { try await load("photos:here") }
        try await load(fixture.origin.url("/here"))
    }

    @Test func `an origin's cap applies to its host`() async throws {
        let fixture = try OriginFixture()
        let gate = Gate()
        fixture.origin.serveOthers { _ in .image([1]).held(at: gate) }
        let configuration = try fixture.configuration { $0.limits.maximumActiveDownloads = 2 }
        let downloader = ImageDownloader(
            rules: DownloadRules(configuration), loader: try CurlLoader(configuration: configuration),
            cache: StubCache(),
            timekeeper: SystemTimekeeper())
        let tasks = try (0..<4).map { number in
            let identity = try downloader.identity(of: "photos:\(number)")
            return Task.immediate { try await downloader.download(SourceRequest(identity: identity), receipt: "") }
        }
        await gate.arrivals(2)
        #expect(downloader.activeRequestCount == 2)
        #expect(downloader.queuedRequestCount == 2)
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(fixture.origin.highestParallelism == 2)
    }

    @Test func `secrets are never shown`() throws {
        var origin = Origin(name: "photos", location: .web(base: try SourceURL(parsing: "http://h/")))
        origin.credentials = .basic(user: "u", password: Secret("hidden"))
        origin.fields = [(.accept, Secret("hidden"))]
        let key = OriginCredentials.signature(
            .fixed(.init(id: "k", secret: Secret("hidden"), sessionToken: Secret("hidden"))), region: "eu")
        var configuration = DownloadConfiguration()
        configuration.origins = Origins([origin])
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(key, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), "\(key)", dumped] {
            #expect(!text.contains("hidden"))
        }
    }

    private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }
}

/// An origin on the loopback network, which only named origins may use.
struct OriginFixture {
    let origin: FakeOrigin

    init(servingA answer: FakeResponse? = .image([1])) throws {
        origin = try FakeOrigin()
        if let answer { origin.serve("/a", answer) }
    }

    /// Settings with origins of these names, all at the fake origin.
    func configuration(
        names: [String] = ["photos"], networks: [String] = [], patterns: [String] = [],
        _ change: (inout Origin) throws -> Void
    ) throws -> DownloadConfiguration {
        var configuration = DownloadConfiguration()
        configuration.allowedNetworks = networks.compactMap { AddressNetwork($0) }
        configuration.allowedSources = patterns.compactMap { SourcePattern($0) }
        configuration.origins = Origins(
            try names.map { name in
                var named = Origin(name: name, location: .web(base: try SourceURL(parsing: origin.url("/"))))
                try change(&named)
                return named
            })
        return configuration
    }

    /// Loads a client's source with a new loader.
    func loader(
        names: [String] = ["photos"], networks: [String] = [], patterns: [String] = [],
        timekeeper: any Timekeeper = SystemTimekeeper(), _ change: (inout Origin) throws -> Void
    ) throws -> @Sendable (String) async throws -> Void {
        let configuration = try configuration(names: names, networks: networks, patterns: patterns, change)
        let loader = try CurlLoader(configuration: configuration, timekeeper: timekeeper)
        let rules = DownloadRules(configuration)
        return { source in
            let identity = try rules.identity(of: ExactText(source))
            _ = try await loader.load(TransferRequest(identity: identity), progress: TransferProgress())
        }
    }
}
