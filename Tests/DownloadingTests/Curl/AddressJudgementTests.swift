import Coordination
import Downloading
import Glibc
import HTTPTypes
import TestSupport
import Testing

/// Only checked addresses are connected to, regardless of DNS.
@Suite(.timeLimit(.minutes(1)))
struct AddressJudgementTests {
    @Test(arguments: [
        "127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254", "192.168.0.1", "0.0.0.0", "168.63.129.16",
        "[64:ff9b::7f00:1]", "[2002:7f00:1::1]", "[fd00:ec2::254]", "localhost", "LOCALHOST",
    ])
    func `a denied literal or local name is not dialed`(host: String) async throws {
        let fixture = try LoaderFixture { $0.allowedNetworks = [] }
        await #expect { try await fixture.load(url: "http://\(host)/a") } throws: {
            isDenied($0, by: "allowedNetworks")
        }
        // The port is checked before the name is resolved.
        let rule = host.first?.isLetter == true ? "allowedPorts" : "allowedNetworks"
        await #expect { try await fixture.load("/a", host: host) } throws: { isDenied($0, by: rule) }
        #expect(fixture.origin.connectionCount == 0)
    }

    @Test func `a closed port is rejected without a lookup of the name`() async throws {
        let names = try FakeNameServer()
        let fixture = try LoaderFixture {
            $0.allowedNetworks = []
            $0.nameServers = names.endpoint
        }
        await #expect { try await fixture.load(url: "http://a.test:25/") } throws: { isDenied($0, by: "allowedPorts") }
        #expect(names.queries.isEmpty)
    }

    @Test(arguments: [
        ["127.0.0.1"], ["::1"], ["10.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["2606:2800:220:1::1", "127.0.0.1"],
        ["93.184.216.34", "fd00::1"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"],
    ])
    func `one denied address of a name rejects the whole transfer`(addresses: [String]) async throws {
        let names = try FakeNameServer()
        names.serve("a.test", .addresses(addresses))
        let fixture = try LoaderFixture {
            $0.allowedNetworks = []
            $0.nameServers = names.endpoint
        }
        await #expect { try await fixture.load(url: "http://a.test/") } throws: { isDenied($0, by: "allowedNetworks") }
    }

    @Test func `a redirect to a name with a denied address is rejected alike`() async throws {
        let names = try FakeNameServer()
        names.serve("inside.test", .addresses(["10.0.0.1"]))
        let fixture = try LoaderFixture { $0.nameServers = names.endpoint }
        fixture.origin.serve("/a", .redirect(to: "http://inside.test/"))
        await #expect { try await fixture.load("/a") } throws: { isDenied($0, by: "allowedNetworks") }
    }

    @Test func `a name is connected at its checked address under its own name`() async throws {
        let names = try FakeNameServer()
        names.serve("photos.test", .addresses(["127.0.0.1"]))
        let fixture = try LoaderFixture { $0.nameServers = names.endpoint }
        fixture.origin.serve("/a", .image([1]))
        let source = try await fixture.load("/a", host: "Photos.TEST")
        #expect(source.timings.dns > .zero)
        #expect(fixture.origin.requests.first?.value("Host") == "photos.test:\(fixture.origin.port)")
    }

    @Test func `the log names the rule, address and host`() async throws {
        let names = try FakeNameServer()
        names.serve("inside.test", .addresses(["93.184.216.34", "10.1.2.3"]))
        let fixture = try LoaderFixture {
            $0.allowedNetworks = [AddressNetwork("192.168.0.0/16")].compactMap { $0 }
            $0.nameServers = names.endpoint
        }
        await #expect(
            throws: DownloadError.sourceNotAllowed(
                "allowedNetworks: 10.1.2.3 is not public, and none of the networks contains it; the host is inside.test"
            )
        ) { try await fixture.load(url: "http://inside.test/") }
        await #expect(throws: DownloadError.sourceNotAllowed("allowedPorts: 8080 is none of 80, 443")) {
            try await fixture.load(url: "http://93.184.216.34:8080/")
        }
        await #expect(throws: DownloadError.noAddress("names: gone.test: Domain name not found")) {
            try await fixture.load(url: "http://gone.test/")
        }
    }

    @Test func `a name whose address changes is checked again`() async throws {
        let names = try FakeNameServer()
        names.serve("rebind.test", .addresses(["127.0.0.1"], secondsToLive: 0))
        let fixture = try LoaderFixture {
            $0.nameServers = names.endpoint
            $0.allowedNetworks = [AddressNetwork("127.0.0.1/32")].compactMap { $0 }
        }
        fixture.origin.serve("/a", .image([1]).framed(by: .close))
        try await fixture.load("/a", host: "rebind.test")
        names.serve("rebind.test", .addresses(["127.0.0.2"], secondsToLive: 0))
        await #expect { try await fixture.load("/a", host: "rebind.test") } throws: {
            isDenied($0, by: "allowedNetworks")
        }
        #expect(fixture.origin.hits == 1)
    }

    @Test func `a name whose address changes to another allowed one stays reachable`() async throws {
        let names = try FakeNameServer()
        let fixture = try LoaderFixture { $0.nameServers = names.endpoint }
        let other = try FakeOrigin(address: "127.0.0.2", port: fixture.origin.port)
        for origin in [fixture.origin, other] { origin.serve("/a", .image([1])) }
        for round in 0..<10 {
            names.serve("moved.test", .addresses(["127.0.0.\(round % 2 + 1)"], secondsToLive: 0))
            try await fixture.load("/a", host: "moved.test")
        }
        #expect(fixture.origin.hits + other.hits == 10)
    }

    @Test func `a name without an address is distinguished from a failed lookup, and silence times out`() async throws {
        let names = try FakeNameServer()
        names.serve("broken.test", .failure)
        names.serve("empty.test", .addresses([]))
        names.serve("silent.test", .silence)
        let time = ManualTimekeeper()
        let fixture = try LoaderFixture(timekeeper: time) {
            $0.nameServers = names.endpoint
            $0.connectTimeout = .milliseconds(300)
        }
        for host in ["none.test", "empty.test"] {
            await #expect { try await fixture.load("/a", host: host) } throws: { hasNoAddress($0) }
        }
        await #expect { try await fixture.load("/a", host: "broken.test") } throws: { isUnreachable($0) }
        let silent = Task { try await fixture.load("/a", host: "silent.test") }
        await names.query(for: "silent")
        let outcome = await time.pass(by: .milliseconds(300), until: silent)
        #expect(throws: DownloadError.timedOut) { try outcome.get() }
    }

    @Test func `callers of one name share its lookup while it is valid`() async throws {
        let names = try FakeNameServer()
        names.serve("photos.test", .addresses(["127.0.0.1"], secondsToLive: 60))
        let fixture = try LoaderFixture { $0.nameServers = names.endpoint }
        fixture.origin.serveOthers { _ in .image([1]) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 { group.addTask { try await fixture.load("/\(number)", host: "photos.test") } }
            try await group.waitForAll()
        }
        try await fixture.load("/again", host: "photos.test")
        #expect(names.queries.count == 2)
    }

    @Test func `a caller that cancels leaves a name's lookup, which continues for the others`() async throws {
        let names = try FakeNameServer()
        names.serve("silent.test", .silence)
        let fixture = try LoaderFixture { $0.nameServers = names.endpoint }
        let task = Task { try await fixture.load("/a", host: "silent.test") }
        await names.query()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        fixture.loader.shutDown()
    }

    @Test func `proxies of the environment are ignored`() async {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
                unsafe setenv(name, "http://127.0.0.1:1", 1)
            }
            let fixture = try LoaderFixture()
            fixture.origin.serve("/a", .image([1]))
            try await fixture.load("/a")
        }
    }

    @Test func `passwords of the environment's user are not sent`() async {
        await #expect(processExitsWith: .success) {
            let home = TemporaryFolder()
            home.write(".netrc", Array("default login user password secret\n".utf8))
            unsafe setenv("HOME", home.path, 1)
            let fixture = try LoaderFixture()
            fixture.origin.serve("/a", .image([1]))
            try await fixture.load("/a")
            let isBare = fixture.origin.requests.allSatisfy { $0.value("Authorization") == nil }
            #expect(isBare && fixture.origin.hits == 1)
            withExtendedLifetime(home) {}
        }
    }
}
