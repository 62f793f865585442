import Coordination
import Crypto
import Downloading
import HTTPTypes
import Memory
import TestSupport
import Testing
import Text

/// Client certificates and Digest authentication of named origins.
@Suite(.timeLimit(.minutes(1)))
struct OriginLoginTests {
    @Test func `Digest answers the challenge, and reuses its nonce`() async throws {
        let server = try DigestServer()
        let load = try server.fixture.loader { $0.credentials = .digest(user: "alula", password: Secret("s3cret")) }
        try await load("photos:a")
        #expect(server.statuses == [401, 200])
        try await load("photos:b?c=d")
        #expect(server.statuses == [401, 200, 200], "the nonce is used again")
        server.changeNonce()
        try await load("photos:a")
        #expect(server.statuses == [401, 200, 200, 401, 200])
        #expect(server.fixture.origin.connectionCount == 1)
    }

    @Test func `a wrong password is an origin's 401, after one answer`() async throws {
        let server = try DigestServer()
        let load = try server.fixture.loader { $0.credentials = .digest(user: "alula", password: Secret("wrong")) }
        await #expect(throws: DownloadError.status(401)) { try await load("photos:a") }
        #expect(server.statuses == [401, 401])
    }

    @Test func `an origin that calls each nonce stale is answered twice`() async throws {
        let server = try DigestServer(isAlwaysStale: true)
        let load = try server.fixture.loader { $0.credentials = .digest(user: "alula", password: Secret("s3cret")) }
        await #expect(throws: DownloadError.status(401)) { try await load("photos:a") }
        #expect(server.statuses.count <= 3)
    }

    @Test func `a connection that closes after the challenge is opened again`() async throws {
        let server = try DigestServer(closesAfterChallenge: true)
        let load = try server.fixture.loader { $0.credentials = .digest(user: "alula", password: Secret("s3cret")) }
        try await load("photos:a")
        #expect(server.statuses == [401, 200])
    }

    @Test func `bytes after a challenge do not answer the request`() async throws {
        let fixture = try OriginFixture()
        fixture.origin.serve(
            "/attack",
            .open(
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
                    + "Content-Length: 6\r\n\r\n",
                "honestHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"))
        let load = try fixture.loader { $0.credentials = .digest(user: "alula", password: Secret("s3cret")) }
        await #expect(throws: DownloadError.self) { try await load("photos:attack") }
    }

    @Test func `another host's challenge is not answered`() async throws {
        let server = try DigestServer()
        let other = try FakeOrigin(address: "127.0.0.2")
        other.serveOthers { _ in
            FakeResponse(status: 401, fields: [("WWW-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#)])
        }
        server.fixture.origin.serve("/away", .redirect(to: other.url("/b")))
        let load = try server.fixture.loader(networks: ["127.0.0.0/8"]) {
            $0.credentials = .digest(user: "alula", password: Secret("s3cret"))
        }
        await #expect(throws: DownloadError.status(401)) { try await load("photos:away") }
        #expect(other.requests.count == 1)
    }

    @Test func `an origin gets the client certificate, and no other server does`() async throws {
        let root = FakeCertificate.root()
        let client = FakeCertificate.root("Clients")
        let own = client.server(for: ["alula"])
        let (authorities, file, keyFile) = (TemporaryFile(root.pem), TemporaryFile(own.pem), TemporaryFile(own.keyPEM))
        let origin = try FakeOrigin()
        origin.serveOthers { _ in .image([1]) }
        let front = try FakeTLSFront(
            origin: origin, certificate: root.server(for: ["right.test"]), demanding: client)
        let names = try FakeNameServer()
        names.serve("right.test", .addresses(["127.0.0.1"], secondsToLive: 60))
        var configuration = DownloadConfiguration()
        configuration.nameServers = names.endpoint
        configuration.allowedNetworks = [try #require(AddressNetwork("127.0.0.0/8"))]
        configuration.certificateAuthorities = authorities.path
        let base = try SourceURL(parsing: front.url("/", host: "right.test"))
        var known = Origin(name: "known", location: .web(base: base))
        known.clientCertificate = ClientCertificate(file: file.path, keyFile: keyFile.path)
        configuration.origins = Origins([known, Origin(name: "plain", location: .web(base: base))])
        try configuration.origins.checkFiles()
        let loader = try CurlLoader(configuration: configuration)
        let rules = DownloadRules(configuration)
        func load(_ source: String) async throws {
            _ = try await loader.load(
                TransferRequest(identity: try rules.identity(of: ExactText(source))), progress: TransferProgress())
        }
        try await load("known:a")
        for source in ["plain:a", front.url("/a", host: "right.test")] {
            await #expect(throws: DownloadError.self) { try await load(source) }
        }
        #expect(origin.requests.count == 1)
    }

    @Test func `a certificate without its key prevents the start`() throws {
        let (one, other) = (FakeCertificate.root(), FakeCertificate.root())
        let (file, keyFile) = (TemporaryFile(one.pem), TemporaryFile(other.keyPEM))
        let both = TemporaryFile(one.pem + one.keyPEM)
        var origin = Origin(name: "web", location: .web(base: try SourceURL(parsing: "https://h/")))
        for (certificate, key) in [(file, keyFile), (file, file), (keyFile, keyFile)] {
            origin.clientCertificate = ClientCertificate(file: certificate.path, keyFile: key.path)
            #expect(throws: Origins.Unusable.self) { try Origins([origin]).checkFiles() }
        }
        origin.clientCertificate = ClientCertificate(file: both.path, keyFile: both.path)
        try Origins([origin]).checkFiles()
        origin.clientCertificate = ClientCertificate(file: both.path, keyFile: "/nowhere")
        #expect(throws: Origins.Unusable.self) {
            try Origins([origin]).checkFiles()
        }
    }
}

/// An origin that requires Digest authentication (RFC 7616) with SHA-256 from the user `alula`.
private struct DigestServer {
    let fixture: OriginFixture
    private let state = Locked((nonce: 0, statuses: [Int]()))

    init(isAlwaysStale: Bool = false, closesAfterChallenge: Bool = false) throws {
        fixture = try OriginFixture(servingA: nil)
        let state = state
        fixture.origin.serveOthers { request in
            state.withLock { state in
                if isAlwaysStale { state.nonce += 1 }
                let nonce = "nonce\(state.nonce)"
                let isValid = isSatisfied(request, nonce)
                state.statuses.append(isValid ? 200 : 401)
                if isValid { return .image([1]) }
                let isStale = request.value("Authorization") != nil && !request.isNonce(nonce)
                let challenge = #"Digest realm="images", qop="auth", algorithm=SHA-256, nonce="\#(nonce)""#
                let answer = FakeResponse(
                    status: 401, fields: [("WWW-Authenticate", challenge + (isStale ? ", stale=true" : ""))],
                    body: Array("who are you?".utf8))
                return closesAfterChallenge ? answer.framed(by: .close) : answer
            }
        }
    }

    /// The statuses of the responses so far.
    var statuses: [Int] { state.withLock { $0.statuses } }

    /// Makes earlier nonces stale.
    func changeNonce() { state.withLock { $0.nonce += 1 } }
}

extension FakeOrigin.Request {
    /// The parameters of `Authorization`.
    fileprivate var login: [String: String] {
        let parts = (value("Authorization") ?? "").dropFirst("Digest ".count).split(separator: ",")
        return Dictionary(
            parts.map { part in
                let name = part.prefix { $0 != "=" }
                return (name.filter { $0 != " " }, part.dropFirst(name.count + 1).filter { $0 != "\"" })
            }, uniquingKeysWith: { $1 })
    }

    fileprivate func isNonce(_ nonce: String) -> Bool { login["nonce"] == nonce }
}

/// Whether the request has the response to this nonce (RFC 7616 section 3.4.1).
private func isSatisfied(_ request: FakeOrigin.Request, _ nonce: String) -> Bool {
    func hash(_ text: String) -> String { SharedBytes(text.utf8).withBytes { SHA256.hash($0) }.hexadecimal }
    let login = request.login
    let (count, own) = (login["nc"] ?? "", login["cnonce"] ?? "")
    let secret = hash("alula:images:s3cret")
    let target = hash("\(request.method):\(request.target)")
    return request.isNonce(nonce) && login["uri"] == request.target
        && login["response"] == hash("\(secret):\(nonce):\(count):\(own):auth:\(target)")
}
