import HTTPTypes
import Testing
import Text

@testable import Downloading

struct OriginDigestTests {
    private func origin(_ url: String = "https://h/a", _ change: (inout Origin) -> Void = { _ in }) throws -> Origin {
        var origin = Origin(name: "shop", location: .web(base: try SourceURL(parsing: url)))
        change(&origin)
        return origin
    }

    @Test func `a digest changes with every setting that affects fetches or caches, and with no other`() throws {
        let name = try #require(HTTPField.Name("X-Key"))
        let pins = try ["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]
            .map {
                try #require(TLSPolicy.Pin("sha256/" + $0))
            }
        let key = OriginCredentials.AccessKey(id: "i", secret: Secret("s"))
        let other = OriginCredentials.AccessKey(id: "i", secret: Secret("t"))
        let origins = [
            try origin(), try origin("https://h/b"), try origin("http://h/a"), try origin("https://h:444/a"),
            Origin(name: "shop", location: .folder(path: "/a")), Origin(name: "shop", location: .folder(path: "/b")),
            try origin { $0.fields = [(name, Secret("1"))] }, try origin { $0.fields = [(name, Secret("2"))] },
            try origin { $0.fields = [(name, nil)] }, try origin { $0.fields = [(name, Secret("1")), (.accept, nil)] },
            try origin { $0.credentials = .basic(user: "a", password: Secret("bc")) },
            try origin { $0.credentials = .basic(user: "ab", password: Secret("c")) },
            try origin { $0.credentials = .digest(user: "a", password: Secret("bc")) },
            try origin { $0.clientCertificate = ClientCertificate(file: "/a", keyFile: "/b") },
            try origin { $0.clientCertificate = ClientCertificate(file: "/a", keyFile: "/a") },
            try origin { $0.credentials = .bearer(Secret("abc")) },
            try origin { $0.credentials = .bearer(Secret("abd")) },
            try origin { $0.credentials = .signature(.fixed(key), region: "eu") },
            try origin { $0.credentials = .signature(.fixed(other), region: "eu") },
            try origin { $0.credentials = .signature(.fixed(key), region: "us") },
            try origin { $0.credentials = .signature(.instance(service: "http://m"), region: "eu") },
            try origin { $0.credentials = .signature(.container(service: "http://m", nil), region: "eu") },
            try origin { $0.tlsPolicy = .certificate([pins[0]]) }, try origin { $0.tlsPolicy = .publicKey([pins[0]]) },
            try origin { $0.tlsPolicy = .publicKey([pins[1]]) }, try origin { $0.tlsPolicy = .publicKey(Set(pins)) },
            try origin { $0.tlsPolicy = .publicKey([]) }, try origin { $0.certificateAuthorities = "/ca.pem" },
            try origin { $0.cachePolicy = .results }, try origin { $0.cachePolicy = .none },
            try origin { $0.maximumDecodedBytes = 0 }, try origin { $0.expectation.formats = ["jpeg"] },
            try origin { $0.expectation.statuses = [200] }, try origin { $0.expectation.statuses = [200, 404] },
            try origin { $0.ignoredParameters = ["a"] }, try origin { $0.ignoredParameters = ["a", "b"] },
        ]
        #expect(Set(origins.map(\.digest)).count == origins.count)
        for copy in origins { #expect(copy.digest == copy.digest) }
        let limited = try origin {
            $0.limits.connectTimeout = .seconds(1)
            $0.limits.maximumActiveDownloads = 3
            $0.proxy = try? SourceURL(parsing: "http://proxy:3128")
        }
        #expect(try limited.digest == origin().digest)
    }

    @Test func `the order of sets makes no difference`() throws {
        let names = (0..<20).map { ExactText("p\($0)") }
        let digests = try (0..<10).map { _ in try origin { $0.ignoredParameters = Set(names.shuffled()) }.digest }
        #expect(Set(digests).count == 1)
    }
}
