import Coordination
import Crypto
import Downloading
import HTTPTypes
import Memory
import TestSupport
import Testing

/// Signatures that an S3-compatible store would accept.
@Suite(.timeLimit(.minutes(1)))
struct RequestSignatureTests {
    private static let key = OriginCredentials.AccessKey(
        id: "AKIDEXAMPLE", secret: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"))

    @Test(arguments: [
        "a.jpg", "folder/a b.jpg", "a+b.jpg", "ü/é~.jpg", "a(1)*'!.jpg", "100%25.jpg", "a:b@c,d;e=f.jpg",
        "a?versionId=abc", "a?b=2&a=1&A=3", "a?name=x y+z&tag=ü&empty&last=%2F", "a?a=2&a=1&a-b=3&a_b=4",
    ])
    func `the signature covers the request as it is sent`(path: String) async throws {
        let fixture = try OriginFixture()
        fixture.origin.serveOthers { _ in .image([1]) }
        let load = try fixture.loader { $0.credentials = .signature(.fixed(Self.key), region: "eu-central-1") }
        try await load("photos:" + path)
        let request = try #require(fixture.origin.requests.first)
        let signature = try SignedRequest(request)
        #expect(signature.isValid(secret: Self.key.secret.text))
        #expect(!signature.isValid(secret: "another"))
        #expect(signature.scope == ["AKIDEXAMPLE", signature.day, "eu-central-1", "s3", "aws4_request"])
        #expect(signature.signedNames.contains("host"))
        #expect(signature.signedNames.contains("x-amz-content-sha256"))
        #expect(request.value("x-amz-content-sha256") == "UNSIGNED-PAYLOAD")
        #expect(fixture.origin.hits == 1)
    }

    @Test func `a temporary key's token and an origin's fields are signed too`() async throws {
        let fixture = try OriginFixture()
        let load = try fixture.loader { origin in
            origin.credentials = .signature(
                .fixed(.init(id: "ID", secret: Secret("secret"), sessionToken: Secret("to+ken=="))), region: "eu")
            func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }
            origin.fields = try [
                (name("x-amz-request-payer"), Secret("requester")), (.userAgent, Secret("Two  spaces")),
                (.accept, Secret("image/*")), (name("X-Key"), Secret("b")), (name("X-Key-2"), Secret("a")),
                (name("X-Empty"), Secret("")), (name("X-Omitted"), nil),
            ]
        }
        try await load("photos:a")
        let request = try #require(fixture.origin.requests.first)
        let signature = try SignedRequest(request)
        #expect(signature.isValid(secret: "secret"))
        let names = [
            "x-amz-security-token", "x-amz-request-payer", "user-agent", "accept", "x-key", "x-key-2", "x-empty",
        ]
        for name in names { #expect(signature.signedNames.contains(name)) }
        #expect(!signature.signedNames.contains("x-omitted"))
        #expect(request.value("x-amz-security-token") == "to+ken==")
    }

    @Test func `nothing is signed for another host`() async throws {
        let fixture = try OriginFixture()
        let other = try FakeOrigin(address: "127.0.0.2")
        fixture.origin.serve("/a", .redirect(to: other.url("/b?X=1")))
        other.serve("/b", .image([1]))
        let load = try fixture.loader(networks: ["127.0.0.0/8"]) {
            $0.credentials = .signature(.fixed(Self.key), region: "eu-central-1")
        }
        try await load("photos:a")
        let request = try #require(other.requests.first)
        for name in ["Authorization", "x-amz-date", "x-amz-content-sha256"] { #expect(request.value(name) == nil) }
        #expect(request.target == "/b?X=1")
    }

    @Test(arguments: [1, 5_000, 3 << 20])
    func `an object is stored with its hash, and read back on the same connection`(count: Int) async throws {
        let fixture = try OriginFixture()
        let kept = Locked<[UInt8]>([])
        fixture.origin.serveOthers { request in
            if request.method == "PUT" {
                kept.withLock { $0 = request.body }
                return FakeResponse(fields: [("Content-Type", "application/xml")], body: [])
            }
            return kept.withLock { $0.isEmpty } ? nil : .image(kept.withLock { $0 })
        }
        let objects = try objects(fixture)
        #expect(try await objects.object(named: "alula-1/v/ab/-_c", atMost: count) == nil)
        try await objects.store(SharedBytes(bytes(count)), named: "alula-1/v/ab/-_c", isDurable: true)
        #expect(try await objects.object(named: "alula-1/v/ab/-_c", atMost: count)?.array == bytes(count))
        await #expect(throws: DownloadError.tooLarge) {
            try await objects.object(named: "alula-1/v/ab/-_c", atMost: count - 1)
        }
        let requests = fixture.origin.requests
        #expect(requests.map(\.method) == ["GET", "PUT", "GET", "GET"])
        for request in requests {
            let signature = try SignedRequest(request)
            #expect(signature.isValid(secret: Self.key.secret.text), "\(request.method)")
            #expect(signature.signedNames.contains("x-amz-content-sha256"))
        }
        #expect(requests[1].body == bytes(count))
        #expect(
            requests[1].value("x-amz-content-sha256")
                == SharedBytes(bytes(count)).withBytes { SHA256.hash($0) }.hexadecimal)
        #expect(requests[1].value("Content-Type") == "application/octet-stream")
        #expect(requests[2].value("x-amz-content-sha256") == "UNSIGNED-PAYLOAD")
        #expect(requests[2].value("Content-Type") == nil && requests[2].value("Content-Length") == nil)
    }

    @Test(arguments: [301, 403, 503])
    func `a store's rejection is trusted, and a redirect is not followed`(status: Int) async throws {
        let fixture = try OriginFixture()
        fixture.origin.serve("/b", .image([1]))
        fixture.origin.serve("/a", FakeResponse(status: status, fields: [("Location", "/b")], body: [1]))
        let objects = try objects(fixture)
        await #expect(throws: DownloadError.self) {
            try await objects.store(SharedBytes([1]), named: "a", isDurable: true)
        }
        await #expect(throws: DownloadError.self) { try await objects.object(named: "a", atMost: 10) }
        #expect(fixture.origin.hits("/b") == 0)
    }

    /// Objects of the fixture's origin.
    private func objects(_ fixture: OriginFixture) throws -> OriginObjects {
        let configuration = try fixture.configuration { origin in
            origin.credentials = .signature(.fixed(Self.key), region: "eu-central-1")
            origin.isWritable = true
        }
        let loader = try CurlLoader(configuration: configuration)
        let rules = try #require(DownloadRules(configuration)["photos"])
        return try #require(OriginObjects(rules, web: loader, maximumReads: 8))
    }

    @Test func `lent keys sign with their tokens, each until shortly before its end`() async throws {
        let fixture = try OriginFixture()
        fixture.origin.serveOthers { _ in .image([1]) }
        let time = ManualTimekeeper()
        let lender = try FakeOrigin()
        let count = Locked(0)
        lender.serveOthers { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let end = number == 1 ? "2027-01-15T08:10:00Z" : "2027-01-15T08:30:00Z"
            return FakeResponse(
                body: Array(
                    #"{"AccessKeyId":"K\#(number)","SecretAccessKey":"s\#(number)","Token":"t/\#(number)=","Expiration":"\#(end)"}"#
                        .utf8))
        }
        let load = try fixture.loader(timekeeper: time) {
            $0.credentials = .signature(.container(service: lender.url("/"), nil), region: "eu")
        }
        try await load("photos:a")
        try await load("photos:b")
        time.advance(by: .seconds(595))
        try await load("photos:c")
        let requests = fixture.origin.requests
        for (request, number) in zip(requests, [1, 1, 2]) {
            let signature = try SignedRequest(request)
            #expect(signature.isValid(secret: "s\(number)") && signature.scope[0] == "K\(number)")
            #expect(signature.signedNames.contains("x-amz-security-token"))
            #expect(request.value("x-amz-security-token") == "t/\(number)=")
        }
        #expect(lender.hits == 2 && lender.requests.allSatisfy { $0.value("x-amz-date") == nil })
        lender.serveOthers { _ in .status(403) }
        time.advance(by: .seconds(1_200))
        let error = DownloadError.unreachable("credentials: the container service responded with status 403")
        await #expect(throws: error) {
            try await load("photos:d")
        }
        #expect(fixture.origin.hits == 3)
    }

    @Test func `a redirect within the store is signed again`() async throws {
        let fixture = try OriginFixture()
        fixture.origin.serve("/a", .redirect(to: "/b"))
        fixture.origin.serve("/b", .image([1]))
        let load = try fixture.loader { $0.credentials = .signature(.fixed(Self.key), region: "eu-central-1") }
        try await load("photos:a")
        for request in fixture.origin.requests {
            #expect(try SignedRequest(request).isValid(secret: Self.key.secret.text))
        }
        #expect(fixture.origin.hits == 2)
    }
}

/// A request in the canonical form of AWS Signature Version 4.
private struct SignedRequest {
    struct Unsigned: Error {}

    let scope: [String]
    let signedNames: [String]
    private let signature: String
    private let time: String
    private let request: FakeOrigin.Request

    init(_ request: FakeOrigin.Request) throws {
        let value = request.value("Authorization") ?? ""
        guard value.hasPrefix("AWS4-HMAC-SHA256 "), let time = request.value("x-amz-date") else { throw Unsigned() }
        var parts: [String: String] = [:]
        for part in value.dropFirst(17).split(separator: ",") {
            let words = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1).map(String.init)
            if words.count == 2 { parts[words[0]] = words[1] }
        }
        scope = parts["Credential", default: ""].split(separator: "/").map(String.init)
        signedNames = parts["SignedHeaders", default: ""].split(separator: ";").map(String.init)
        signature = parts["Signature", default: ""]
        self.time = time
        self.request = request
    }

    var day: String { String(time.prefix(8)) }

    func isValid(secret: String) -> Bool {
        guard signedNames == signedNames.sorted() else { return false }
        let scopeText = scope.dropFirst().joined(separator: "/")
        let text = ["AWS4-HMAC-SHA256", time, scopeText, hash(canonical)].joined(separator: "\n")
        var key = Array("AWS4\(secret)".utf8)
        for part in scope.dropFirst() { key = HMAC.authenticationCode(for: part.utf8, key: key) }
        return Hexadecimal.encode(HMAC.authenticationCode(for: text.utf8, key: key)) == signature
    }

    private var canonical: String {
        let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].split(separator: "/", omittingEmptySubsequences: false).map(spelled).joined(separator: "/")
        let query = (parts.count == 2 ? parts[1] : "").split(separator: "&").map { parameter in
            let words = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return "\(spelled(words[0]))=\(words.count == 2 ? spelled(words[1]) : "")"
        }.sorted { left, right in
            let (left, right) = (left.split(separator: "=", maxSplits: 1), right.split(separator: "=", maxSplits: 1))
            return Array(left.joined(separator: "\u{0}").utf8).lexicographicallyPrecedes(
                right.joined(separator: "\u{0}").utf8)
        }
        let headers = signedNames.map { name in
            let value = request.value(name) ?? "(missing)"
            return "\(name):\(value.split(separator: " ").joined(separator: " "))\n"
        }
        return [
            request.method, path, query.joined(separator: "&"), headers.joined(), signedNames.joined(separator: ";"),
            request.value("x-amz-content-sha256") ?? "(missing)",
        ].joined(separator: "\n")
    }

    /// Decodes and percent-encodes again, except letters, digits and `-._~`.
    private func spelled(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes.map { byte in
            let scalar = Character(Unicode.Scalar(byte))
            let isPlain = byte < 0x80 && (scalar.isLetter || scalar.isNumber || "-._~".contains(scalar))
            return isPlain ? String(scalar) : "%" + Hexadecimal.encode([byte]).uppercased()
        }.joined()
    }

    private func hash(_ text: String) -> String {
        unsafe SHA256.hash(Array(text.utf8).span.bytes).hexadecimal
    }
}
