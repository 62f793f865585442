import Coordination
import Downloading
import Memory
import TestSupport
import Testing

/// Trust in certificates that the tests create.
@Suite(.timeLimit(.minutes(1)))
struct TLSPolicyTests {
    private let root = FakeCertificate.root()
    private let intermediate: FakeCertificate
    private let leaf: FakeCertificate
    private let authorities: TemporaryFile

    init() {
        intermediate = root.authority()
        leaf = intermediate.server(for: ["right.test"])
        authorities = TemporaryFile(root.pem)
    }

    /// The certificate to pin.
    enum Pinned: CaseIterable {
        case leaf, intermediate, root, unrelated
    }

    @Test func `without a policy the right host with a known authority passes`() async throws {
        let fixture = try TLSFixture(leaf, authorities)
        try await fixture.load()
    }

    @Test func `bytes after a response do not answer the next request, though TLS has decrypted them`() async throws {
        let fixture = try TLSFixture(leaf, authorities)
        // The rest of the body is in a second TLS record.
        fixture.origin.serve(
            "/attack",
            .open(
                "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n",
                "honestHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"))
        for _ in 0..<3 {
            #expect(try await fixture.load(path: "attack")?.bytes.array == Array("honest".utf8))
            #expect(try await fixture.load(path: "victim")?.bytes.array == [1])
        }
    }

    @Test func `the wrong host fails`() async throws {
        try await expectRefusal(TLSFixture(leaf, authorities), host: "wrong.test")
    }

    @Test func `a certificate from an unknown authority fails`() async throws {
        try await expectRefusal(TLSFixture(.selfSigned(for: ["right.test"]), authorities))
        let stranger = FakeCertificate.root("Stranger").authority().server(for: ["right.test"])
        try await expectRefusal(TLSFixture(stranger, authorities))
    }

    @Test func `an expired certificate fails`() async throws {
        try await expectRefusal(TLSFixture(intermediate.server(for: ["right.test"], isExpired: true), authorities))
    }

    @Test(arguments: Pinned.allCases, [false, true])
    func `a pin on any certificate of the chain passes, another fails`(pinned: Pinned, isKey: Bool) async throws {
        let policy = policy([certificate(pinned)], isKey: isKey)
        let fixture = try TLSFixture(leaf, authorities, policy)
        if pinned == .unrelated { try await expectRefusal(fixture) } else { try await fixture.load() }
    }

    @Test(arguments: [false, true])
    func `one matching pin among several is enough`(isKey: Bool) async throws {
        let fixture = try TLSFixture(leaf, authorities, policy([.root("Other"), intermediate], isKey: isKey))
        try await fixture.load()
    }

    @Test(arguments: [false, true])
    func `an empty list of pins rejects everything`(isKey: Bool) async throws {
        try await expectRefusal(TLSFixture(leaf, authorities, policy([], isKey: isKey)))
    }

    @Test(arguments: [false, true])
    func `a pin does not excuse a wrong host, an expired certificate or an unknown authority`(
        isKey: Bool
    ) async throws {
        try await expectRefusal(TLSFixture(leaf, authorities, policy([leaf], isKey: isKey)), host: "wrong.test")
        let expired = intermediate.server(for: ["right.test"], isExpired: true)
        try await expectRefusal(TLSFixture(expired, authorities, policy([expired], isKey: isKey)))
        let own = FakeCertificate.selfSigned(for: ["right.test"])
        try await expectRefusal(TLSFixture(own, authorities, policy([own], isKey: isKey)))
    }

    @Test func `a pin is matched against the verified chain, not against other sent certificates`() async throws {
        // The server's own chain is valid, and it also sends another server's pinned certificate.
        let pinned = root.authority("Pinned")
        let fixture = try TLSFixture(leaf, authorities, policy([pinned], isKey: false), alsoSending: [pinned])
        try await expectRefusal(fixture)
    }

    @Test func `a session made under one policy is not resumed under another`() async throws {
        let fixture = try TLSFixture(leaf, authorities, policy([.root("Other")], isKey: true))
        for _ in 0..<3 {
            try await fixture.load(originName: "plain")
            try await expectRefusal(fixture)
        }
    }

    private func expectRefusal(_ fixture: TLSFixture, host: String = "right.test") async throws {
        await #expect {
            try await fixture.load(host: host)
        } throws: { error in
            if case .tls? = error as? DownloadError { true } else { false }
        }
        #expect(fixture.origin.hits("/pinned") == 0)
    }

    private func certificate(_ pinned: Pinned) -> FakeCertificate {
        switch pinned {
        case .leaf: leaf
        case .intermediate: intermediate
        case .root: root
        case .unrelated: .root("Unrelated")
        }
    }

    private func policy(_ certificates: [FakeCertificate], isKey: Bool) -> TLSPolicy {
        isKey
            ? .publicKey(Set(certificates.map { TLSPolicy.Pin(der: $0.publicKeyDER) }))
            : .certificate(Set(certificates.map { TLSPolicy.Pin(der: $0.der) }))
    }
}

/// A TLS server and a loader that knows two of its host names, each as a pinned and as a plain origin.
private struct TLSFixture {
    let origin: FakeOrigin
    let front: FakeTLSFront
    private let loader: CurlLoader
    private let names: FakeNameServer
    private let configuration: DownloadConfiguration

    init(
        _ certificate: FakeCertificate, _ authorities: TemporaryFile, _ policy: TLSPolicy = .none,
        alsoSending others: [FakeCertificate] = []
    ) throws {
        origin = try FakeOrigin()
        origin.serveOthers { _ in .image([1]) }
        front = try FakeTLSFront(origin: origin, certificate: certificate, alsoSending: others)
        names = try FakeNameServer()
        var configuration = DownloadConfiguration()
        configuration.nameServers = names.endpoint
        var origins: [Origin] = []
        for host in ["right.test", "wrong.test"] {
            names.serve(host, .addresses(["127.0.0.1"], secondsToLive: 60))
            for name in ["pinned", "plain"] {
                let base = try SourceURL(parsing: front.url("/", host: host))
                var origin = Origin(name: "\(name)-\(host.prefix { $0 != "." })", location: .web(base: base))
                origin.certificateAuthorities = authorities.path
                if name == "pinned" { origin.tlsPolicy = policy }
                origins.append(origin)
            }
        }
        configuration.origins = Origins(origins)
        self.configuration = configuration
        loader = try CurlLoader(configuration: configuration)
    }

    @discardableResult
    func load(
        originName: String = "pinned", host: String = "right.test", path: String = "a"
    ) async throws -> ReceivedSource? {
        let identity = try DownloadRules(configuration).identity(
            of: "\(originName)-\(host.prefix { $0 != "." }):\(path)")
        let answer = try await loader.load(TransferRequest(identity: identity), progress: TransferProgress())
        return if case .source(let source) = answer { source } else { nil }
    }
}
