import Coordination
import HTTPTypes
import TestSupport
import Testing

@testable import Downloading

/// Protocols of credential services, against fakes that reject the same requests.
@Suite(.timeLimit(.minutes(1)))
struct KeyServicesTests {
    private static let now = 1_800_000_000
    private static let end = "2027-01-15T09:00:00Z"
    private static let lent = """
        {"Code":"Success","LastUpdated":"2027-01-15T08:00:00Z","Type":"AWS-HMAC","AccessKeyId":"ASIA1",
        "SecretAccessKey":"sec/ret+","Token":"to/ken+==","Expiration":"\(end)"}
        """
    private let service: FakeOrigin

    init() throws { service = try FakeOrigin() }

    private func key(from source: KeySource) throws(KeyFailure) -> OriginCredentials.AccessKey {
        try KeyServices.blockingKey(from: source, at: Self.now) { (request, url) throws(KeyFailure) in
            try HTTPClient.blockingCall(request, to: url, authorities: nil)
        }
    }

    private func rejection(of source: KeySource) -> KeyFailure? {
        do throws(KeyFailure) {
            _ = try key(from: source)
            return nil
        } catch {
            return error
        }
    }

    private func expectLent(_ key: OriginCredentials.AccessKey) {
        #expect(key.id == "ASIA1" && key.secret.text == "sec/ret+" && key.sessionToken?.text == "to/ken+==")
        #expect(key.expiresAt == Self.now + 3_600)
    }

    private static func json(_ text: String) -> FakeResponse { FakeResponse(body: Array(text.utf8)) }

    // MARK: Machines

    /// A metadata service of version 2: PUT starts a session, and each request needs its token.
    private func serveMetadata(role: String = "web-role") {
        service.serveOthers { request in
            switch (request.method, request.target) {
            case ("PUT", "/latest/api/token"):
                guard let life = request.value("X-aws-ec2-metadata-token-ttl-seconds").flatMap({ Int($0) }),
                    1...21_600 ~= life, request.value("X-Forwarded-For") == nil
                else { return .status(400) }
                return FakeResponse(fields: [("Content-Type", "text/plain")], body: Array("AQAEtoken==".utf8))
            case ("GET", let target) where request.value("X-aws-ec2-metadata-token") == "AQAEtoken==":
                let folder = "/latest/meta-data/iam/security-credentials/"
                if target == folder { return FakeResponse(body: Array("\(role)\n".utf8)) }
                return target == folder + "web-role" ? Self.json(Self.lent) : nil
            default: return .status(401)
            }
        }
    }

    @Test func `a machine lends its role's key to clients that have opened a session`() throws {
        serveMetadata()
        expectLent(try key(from: .instance(service: service.url(""))))
        #expect(service.requests.map(\.method) == ["PUT", "GET", "GET"])
    }

    @Test func `a machine without a role, or with version 1 only, lends nothing`() throws {
        serveMetadata(role: "../../else")
        #expect(
            rejection(of: .instance(service: service.url("")))
                == KeyFailure(detail: "the metadata service responded with status 404", isPermanent: true))
        #expect(service.requests.last?.target.contains("/../") == false)
        service.serveOthers { _ in .status(403) }
        #expect(rejection(of: .instance(service: service.url("")))?.isPermanent == true)
    }

    // MARK: Containers

    @Test func `a container's key needs the token of a variable, or of a file that is read each time`() throws {
        let folder = TemporaryFolder()
        folder.write("token", Array("first\n".utf8))
        let file = folder.path + "/token"
        service.serveOthers { request in
            ["first", "second", "Basic x"].contains(request.value("Authorization") ?? "")
                ? Self.json(Self.lent) : .status(401)
        }
        let url = service.url("/v1/credentials?id=1")
        expectLent(try key(from: .container(service: url, .text(Secret("Basic x")))))
        expectLent(try key(from: .container(service: url, .file(file))))
        folder.write("token", Array("second".utf8))
        expectLent(try key(from: .container(service: url, .file(file))))
        #expect(service.requests.map { $0.value("Authorization") } == ["Basic x", "first", "second"])
        #expect(
            rejection(of: .container(service: url, nil))?.detail == "the container service responded with status 401")
        let unreadable = rejection(of: .container(service: url, .file("/nowhere")))
        #expect(unreadable?.detail == "the token file cannot be read: error 2")
        #expect(Set(service.requests.map(\.target)) == ["/v1/credentials?id=1"])
    }

    // MARK: Web identities

    private func serveTokens(_ answer: @escaping @Sendable (String) -> FakeResponse) {
        service.serveOthers { request in
            guard request.method == "POST", request.value("Content-Type") == "application/x-www-form-urlencoded" else {
                return .status(400)
            }
            return answer(String(decoding: request.body, as: UTF8.self))
        }
    }

    private func webIdentity(_ file: String) -> KeySource {
        .webIdentity(
            role: "arn:aws:iam::123456789012:role/alula", session: "alula", tokenFile: file, service: service.url("/"))
    }

    @Test func `a token in a file is exchanged for a key of the role`() throws {
        let file = TemporaryFile("eyJh.eyJz.c2ln-_\n")
        serveTokens { form in
            let wanted =
                "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Falula"
                + "&RoleSessionName=alula&WebIdentityToken=eyJh.eyJz.c2ln-_"
            guard form == wanted else { return .status(400) }
            return FakeResponse(
                fields: [("Content-Type", "text/xml")],
                body: Array(
                    """
                    <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
                      <AssumeRoleWithWebIdentityResult>
                        <AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/alula/alula</Arn></AssumedRoleUser>
                        <Credentials>
                          <SessionToken>
                            to/ken+==
                          </SessionToken>
                          <SecretAccessKey>sec/ret+</SecretAccessKey>
                          <Expiration>2027-01-15T09:00:00.250Z</Expiration>
                          <AccessKeyId>ASIA1</AccessKeyId>
                        </Credentials>
                      </AssumeRoleWithWebIdentityResult>
                    </AssumeRoleWithWebIdentityResponse>
                    """.utf8))
        }
        expectLent(try key(from: webIdentity(file.path)))
    }

    @Test func `a rejection is reported by its code, without the token`() throws {
        let file = TemporaryFile("eyJh.secret")
        serveTokens { form in
            FakeResponse(
                status: 400,
                body: Array("<Error><Code>ExpiredTokenException</Code><Message>\(form)</Message></Error>".utf8))
        }
        let expired = "the STS service responded with status 400, ExpiredTokenException"
        #expect(rejection(of: webIdentity(file.path)) == KeyFailure(detail: expired, isPermanent: true))
        serveTokens { form in FakeResponse(status: 503, body: Array("<Code>\(form)</Code>".utf8)) }
        #expect(
            rejection(of: webIdentity(file.path))
                == KeyFailure(detail: "the STS service responded with status 503", isPermanent: false))
    }

    // MARK: All services

    @Test(arguments: [
        "", "{}", "[]", "null", "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"Token\":\"C\"}",
        lent.replacing("ASIA1", with: "A\\r\\nX: y"), lent.replacing("to/ken+==", with: ""),
        lent.replacing("to/ken+==", with: "a b"), lent.replacing(end, with: "tomorrow"),
        lent.replacing(end, with: "2027-02-30T09:00:00Z"), lent.replacing("\"Success\"", with: "\"Failed\""),
        lent.replacing(end, with: "2027-01-15T08:00:00Z"),
        lent.replacing("to/ken+==", with: String(repeating: "t", count: 20_000)),
        lent + String(repeating: " ", count: 70_000),
    ])
    func `an invalid response or an expired key is rejected without quoting it`(text: String) throws {
        service.serveOthers { _ in Self.json(text) }
        let failure = try #require(rejection(of: .container(service: service.url("/"), nil)))
        for secret in ["ASIA1", "sec/ret", "to/ken"] { #expect(!failure.detail.contains(secret)) }
    }

    @Test func `a redirect is not followed, and a silent service times out`() throws {
        service.serve("/", .redirect(to: "/other"))
        service.serve("/other", Self.json(Self.lent))
        #expect(
            rejection(of: .container(service: service.url("/"), .text(Secret("t"))))?.detail
                == "the container service responded with status 302")
        #expect(service.hits("/other") == 0)
        service.serve("/", .closing)
        #expect(rejection(of: .container(service: service.url("/"), nil))?.isPermanent == false)
    }
}
