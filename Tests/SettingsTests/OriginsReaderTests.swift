import Downloading
import HTTPTypes
import Testing
import Text

@testable import Settings

/// Named origins in the settings file.
struct OriginsReaderTests {
    @Test func `all members of an origin are read`() throws {
        let file = """
            {
              origins: {
                photos: {
                  url: "https://photos.internal:8443/library",
                  headers: { "X-Tenant": "a", Accept: null, "X-Key": { env: "PHOTOS_KEY" } },
                  credentials: { basic: { user: "alula", password: { env: "PHOTOS_PASSWORD" } } },
                  tls: {
                    authorities: "/etc/alula/ca.pem",
                    publicKey: ["sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="],
                  },
                  connectTimeout: "1s", firstByteTimeout: "2s", downloadTimeout: "3s", maxSourceBytes: "4KiB",
                  maxRedirects: 1, maxActiveDownloads: 2, ignoredParameters: ["token", "utm_source"],
                },
              },
            }
            """
        let origin = try #require(
            load(file, ["PHOTOS_KEY": "k3y", "PHOTOS_PASSWORD": "s3cret"]).downloads.origins["photos"])
        #expect(origin.location == .web(base: try SourceURL(parsing: "https://photos.internal:8443/library")))
        #expect(origin.fields.map(\.name.rawName) == ["Accept", "X-Key", "X-Tenant"])
        #expect(origin.fields.map(\.value?.text) == [nil, "k3y", "a"])
        #expect(origin.credentials == .basic(user: "alula", password: Secret("s3cret")))
        let pin = try #require(TLSPolicy.Pin("sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="))
        #expect(pin.digest == Array(0..<32))
        #expect(origin.tlsPolicy == .publicKey([pin]))
        #expect(origin.certificateAuthorities == "/etc/alula/ca.pem")
        #expect(origin.limits.connectTimeout == .seconds(1))
        #expect(origin.limits.firstByteTimeout == .seconds(2))
        #expect(origin.limits.downloadTimeout == .seconds(3))
        #expect(origin.limits.maximumBytes == 4_096)
        #expect(origin.limits.maximumRedirects == 1)
        #expect(origin.limits.maximumActiveDownloads == 2)
        #expect(origin.ignoredParameters == ["token", "utm_source"])
    }

    @Test func `expectations and the cache policy of an origin are read`() throws {
        func origin(_ members: String, _ location: String = "url: 'https://a'") throws -> Origin {
            try #require(try load("{ origins: { a: { \(location), \(members) } } }").downloads.origins["a"])
        }
        let read = try origin(
            "expect: { formats: ['jpg', 'raw'], statuses: [200, 404] }, cache: 'results', largestDecodedKept: '64KiB'")
        #expect(read.expectation.formats == ["jpeg", "raw"] && read.expectation.statuses == [200, 404])
        #expect(read.cachePolicy == .results && read.maximumDecodedBytes == 65_536)
        let usual = try origin("maxSourceBytes: '1MiB'")
        #expect(
            usual.expectation == OriginExpectation() && usual.cachePolicy == .all && usual.maximumDecodedBytes == nil)
        let folder = try origin("expect: { formats: ['png'] }, cache: 'none'", "folder: '/a'")
        #expect(folder.expectation.formats == ["png"] && folder.cachePolicy == .none)
        for (members, path) in [
            ("cache: 'some'", "cache"), ("cache: ''", "cache"), ("largestDecodedKept: 'large'", "largestDecodedKept"),
            ("expect: {  formats: ['psd'] }", "expect.formats"), ("expect: { formats: [] }", "expect.formats"),
            ("expect: { statuses: [] }", "expect.statuses"), ("expect: { statuses: [304] }", "expect.statuses"),
            ("expect: { statuses: [204] }", "expect.statuses"), ("expect: { statuses: ['x'] }", "expect.statuses"),
            ("expect: { status: [200] }", "expect.status"), ("expect: 'png'", "expect"),
        ] {
            #expect { try origin(members) } throws: { "\($0)".contains("origins.a.\(path)") }
        }
        #expect { try origin("expect: { statuses: [200] }", "folder: '/a'") } throws: {
            "\($0)".contains("origins.a.expect.statuses")
        }
    }

    @Test func `forwarded fields and cookies are read, and others are named`() throws {
        func forwarded(_ list: String, _ others: String = "") throws -> [ForwardedField]? {
            try load("{ origins: { a: { url: 'https://a', forward: \(list)\(others) } } }", ["SET": "s"])
                .downloads.origins["a"]?.forwarded
        }
        let all = ["Authorization", "Cookie:session", "cookie:Session", "X-Team", "X-1", "X-2", "X-3", "X-4"]
        #expect(try forwarded("\(all)") == all.compactMap { ForwardedField($0) })
        #expect(try forwarded("['Cookie']")?.count == 1)
        #expect(try forwarded("[]") == [])
        let tooMany = all + ["X-5"]
        for (list, others, part) in [
            ("\(tooMany)", "", "at most 8"), ("['X Y']", "", "at most 8"), ("['Cookie:']", "", "at most 8"),
            ("['X-Team:a']", "", "at most 8"), ("'Cookie'", "", "at most 8"),
            ("['X-Team', 'x-team']", "", "not x-team"), ("['Cookie:a', 'Cookie']", "", "not Cookie"),
            ("['X-Team']", ", headers: { 'X-Team': 'a' }", "not X-Team"),
            ("['Authorization']", ", credentials: { bearer: { env: 'SET' } }", "not Authorization"),
            (
                "['X-Team']",
                ", credentials: { s3: { region: 'e', accessKey: { env: 'SET' }, secretKey: { env: 'SET' } } }",
                "with s3"
            ),
        ] {
            #expect { try forwarded(list, others) } throws: {
                "\($0)".contains("origins.a.forward") && "\($0)".contains(part)
            }
        }
        for name in [
            "Host", "Content-Type", "content-length", "Connection", "Range", "If-None-Match", "If-Range", "Via",
            "Forwarded", "X-Forwarded-For", "x-forwarded-host", "CDN-Loop", "Transfer-Encoding", "TE",
            "Proxy-Authorization", "Accept-Encoding",
        ] {
            #expect { try forwarded("['\(name)']") } throws: { "\($0)".contains("not \(name)") }
        }
    }

    @Test func `tokens, keys of stores and folders are read`() throws {
        let file = """
            { origins: {
              a: { url: "http://a", credentials: { bearer: { env: "TOKEN" } } },
              b: { url: "https://s3.example/b", credentials: { s3: {
                region: "eu", accessKey: { env: "ID" }, secretKey: { env: "KEY" }, sessionToken: { env: "TOKEN" } } } },
              c: { folder: "/srv/pictures", maxSourceBytes: 10 },
              d: { url: "https://d", tls: { certificate: [] } },
              e: { url: "https://e", proxy: "http://proxy:3128", tls: { clientCertificate: "/c", clientKey: "/k" },
                   credentials: { digest: { user: "u", password: { env: "TOKEN" } } } },
              f: { url: "https://f", tls: { clientCertificate: "/c" } },
            } }
            """
        let origins = try load(file, ["TOKEN": "t", "ID": "i", "KEY": "k"]).downloads.origins
        #expect(origins.all.map(\.name) == ["a", "b", "c", "d", "e", "f"])
        #expect(origins["a"]?.credentials == .bearer(Secret("t")))
        #expect(
            origins["b"]?.credentials
                == .signature(
                    .fixed(.init(id: "i", secret: Secret("k"), sessionToken: Secret("t"))), region: "eu"))
        #expect(origins["c"]?.location == .folder(path: "/srv/pictures"))
        #expect(origins["c"]?.limits.maximumBytes == 10)
        #expect(origins["d"]?.tlsPolicy == .certificate([]))
        #expect(origins["e"]?.clientCertificate == ClientCertificate(file: "/c", keyFile: "/k"))
        #expect(origins["e"]?.credentials == .digest(user: "u", password: Secret("t")))
        #expect(try origins["e"]?.proxy == SourceURL(parsing: "http://proxy:3128"))
        #expect(origins["f"]?.clientCertificate == ClientCertificate(file: "/c", keyFile: "/c"))
    }

    @Test func `lent keys are found by their platforms' variables`() throws {
        func source(_ s3: String, _ environment: [String: String]) throws -> OriginCredentials? {
            try load(
                "{ origins: { a: { url: 'https://s3.example/b', credentials: { s3: \(s3) }, write: true } } }",
                environment
            )
            .downloads.origins["a"]?.credentials
        }
        let role = ["AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_WEB_IDENTITY_TOKEN_FILE": "/token"]
        func identity(_ session: String, _ service: String) -> KeySource {
            .webIdentity(role: "arn:aws:iam::1:role/r", session: session, tokenFile: "/token", service: service)
        }
        #expect(
            try source("{ region: 'eu-1', from: 'web-identity' }", role)
                == .signature(identity("alula", "https://sts.eu-1.amazonaws.com/"), region: "eu-1"))
        let named = [
            "AWS_ENDPOINT_URL_STS": "http://127.0.0.1:9000", "AWS_ROLE_SESSION_NAME": "pod", "AWS_REGION": "us-1",
        ]
        #expect(
            try source("{ from: 'web-identity' }", role.merging(named) { $1 })
                == .signature(identity("pod", "http://127.0.0.1:9000/"), region: "us-1"))
        let text = "http://127.0.0.1:81/v1/c?id=2"
        #expect(
            try source("{ region: 'eu', from: 'container' }", ["AWS_CONTAINER_CREDENTIALS_FULL_URI": text])
                == .signature(.container(service: text, nil), region: "eu"))
        let tokens = [
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/x", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "t",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/t",
        ]
        #expect(
            try source("{ region: 'eu', from: 'container' }", tokens)
                == .signature(.container(service: "http://169.254.170.2/v2/x", .file("/t")), region: "eu"))
        #expect(
            try source("{ region: 'eu', from: 'container' }", [:])
                == .signature(.instance(service: "http://169.254.169.254"), region: "eu"))
        #expect(
            try source(
                "{ region: 'eu', from: 'container' }", ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://[fd00:ec2::254]/"])
                == .signature(.instance(service: "http://[fd00:ec2::254]"), region: "eu"))
        #expect(
            try source("{ accessKey: { env: 'ID' }, secretKey: { env: 'ID' } }", ["ID": "i", "AWS_REGION": "r"])
                == .signature(.fixed(.init(id: "i", secret: Secret("i"))), region: "r"))
    }

    @Test(arguments: [
        ("{ from: 'container' }", "a region's name, unless AWS_REGION is set"),
        ("{ region: 'eu', from: 'disk' }", "web-identity or container"),
        ("{ region: 'eu', from: 'web-identity' }", "web-identity only where AWS_ROLE_ARN is set"),
        ("{ region: 'eu', from: 'container', secretKey: { env: 'SET' } }", "none with from"),
        ("{ region: 'eu', accessKey: { env: 'SET' } }", "origins.a.credentials.s3.secretKey"),
        ("{ region: 'eu', from: 'container', x: 1 }", "no such member"),
    ])
    func `invalid credentials are reported`(s3: String, message: String) {
        let failure = #expect(throws: SettingsLoader.Failure.self) {
            try load("{ origins: { a: { url: 'https://h', credentials: { s3: \(s3) } } } }", ["SET": "value"])
        }
        #expect(failure?.lines.contains { $0.contains(message) } == true, "\(failure?.lines ?? [])")
    }

    @Test(arguments: [
        ("[]", "origins in the settings file: expected an object of origins by name"),
        ("{ a: 1 }", "origins.a in the settings file: expected an object with url"),
        ("{ A: { url: 'http://a' } }", "origins.A in the settings file: expected a name"),
        ("{ http: { url: 'http://a' } }", "origins.http in the settings file: expected a name"),
        ("{ a: {} }", "origins.a in the settings file: expected either a url or a folder"),
        ("{ a: { url: 'http://a', folder: '/a' } }", "expected either a url or a folder"),
        ("{ a: { url: 'http://a', nope: 1 } }", "origins.a.nope in the settings file: no such member"),
        ("{ a: { url: 'ftp://a' } }", "origins.a.url in the settings file: expected an absolute http or https URL"),
        ("{ a: { url: 'http://a?b=c' } }", "origins.a.url"), ("{ a: { url: 'http://u:p@a' } }", "origins.a.url"),
        ("{ a: { url: 'http://a', headers: { Host: 'b' } } }", "origins.a.headers.Host"),
        ("{ a: { url: 'http://a', headers: { 'a b': 'c' } } }", "origins.a.headers.a b"),
        ("{ a: { url: 'http://a', headers: { b: 'c\\r\\nd: e' } } }", "a string without control characters"),
        ("{ a: { url: 'http://a', credentials: { bearer: 't0ken' } } }", "origins.a.credentials.bearer"),
        ("{ a: { url: 'http://a', credentials: { bearer: { env: 'UNSET' } } } }", "UNSET is not"),
        ("{ a: { url: 'http://a', credentials: {} } }", "one of basic, bearer, digest and s3"),
        ("{ a: { url: 'http://a', credentials: { digest: { user: 'a', password: 'b' } } } }", "digest.password"),
        ("{ a: { url: 'https://a', tls: { clientKey: '/k' } } }", "only with clientCertificate"),
        ("{ a: { url: 'http://a', tls: { clientCertificate: '/c' } } }", "only if the url begins with https"),
        ("{ a: { url: 'http://a', proxy: 'https://p:1' } }", "an HTTP proxy such as"),
        ("{ a: { url: 'http://a', proxy: 'http://u:p@p:1' } }", "an HTTP proxy such as"),
        ("{ a: { url: 'http://a', proxy: 'http://p:1/path' } }", "an HTTP proxy such as"),
        (
            "{ a: { url: 'http://a', credentials: { basic: { user: 'a:b', password: { env: 'SET' } } } } }",
            "origins.a.credentials.basic.user"
        ),
        (
            "{ a: { url: 'http://a', headers: { authorization: 'b' }, credentials: { bearer: { env: 'SET' } } } }",
            "no Authorization with credentials"
        ),
        ("{ a: { url: 'http://a', headers: { 'X-Amz-Date': 'b' } } }", "origins.a.headers.X-Amz-Date"),
        ("{ a: { url: 'http://a', tls: { publicKey: [] } } }", "only if the url begins with https"),
        ("{ a: { url: 'http://a', tls: { certificate: [] } } }", "only if the url begins with https"),
        ("{ a: { url: 'https://a', tls: { certificate: ['sha256/AAAA'] } } }", "a list of pins"),
        ("{ a: { url: 'https://a', tls: { certificate: [], publicKey: [] } } }", "not both"),
        ("{ a: { url: 'http://a', connectTimeout: '3' } }", "origins.a.connectTimeout"),
        ("{ a: { folder: 'relative' } }", "an absolute path"),
        ("{ a: { url: 'http://a', write: true } }", "origins.a.write in the settings file: expected only with"),
        (
            "{ a: { url: 'http://a', credentials: { bearer: { env: 'SET' } }, write: true } }",
            "only with a folder or s3 credentials"
        ),
        ("{ a: { folder: '/a', write: 'perhaps' } }", "origins.a.write"),
        (
            "{ a: { folder: '/a', headers: {} } }",
            "only maxSourceBytes, write, expect, cache, largestDecodedKept with a folder"
        ),
    ])
    func `an unknown or invalid member stops the start and is named`(origins: String, message: String) {
        let failure = #expect(throws: SettingsLoader.Failure.self) {
            try load("{ origins: \(origins) }", ["SET": "value"])
        }
        #expect(failure?.lines.contains { $0.contains(message) } == true, "\(failure?.lines ?? [])")
        #expect(failure?.lines.contains { $0.contains("t0ken") } == false)
    }

    @Test func `origins are named in the file only`() {
        let failure = #expect(throws: SettingsLoader.Failure.self) {
            try SettingsLoader.load(
                arguments: ["--origins", "secret"], environment: ["ALULA_ORIGINS": "secret"]
            ) { _ in "{}" }
        }
        #expect(failure?.lines.count == 1)
        #expect(failure?.lines.first?.contains("expected an object in the settings file") == true)
        #expect(failure?.lines.first?.contains("secret") == false)
    }

    @Test func `all unusable origins are reported at once`() {
        let failure = #expect(throws: SettingsLoader.Failure.self) {
            try load("{ origins: { a: 1, b: 2, c: 3 } }", [:])
        }
        #expect(failure?.lines.count == 3)
    }

    private func load(
        _ file: String, _ environment: [String: String] = [:]
    ) throws(SettingsLoader.Failure) -> Settings {
        try SettingsLoader.load(arguments: ["--config", "a.json5"], environment: environment) { _ in file }
    }
}
