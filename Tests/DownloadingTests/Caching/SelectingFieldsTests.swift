import HTTPTypes
import TestSupport
import Testing

@testable import Downloading

/// Request fields that responses may vary by (RFC 9111 section 4.1).
@Suite(.timeLimit(.minutes(1)))
struct SelectingFieldsTests {
    private static func rules(key: String) throws -> OriginRules {
        var origin = Origin(name: "photos", location: .web(base: try SourceURL(parsing: "http://example.com/")))
        origin.fields = [(try #require(HTTPField.Name("X-Key")), Secret(key)), (.accept, nil)]
        return .of(origin)
    }

    @Test func `strangers' sources are requested with the configured fields`() throws {
        let fields = OriginRules.unrestricted.selectingFields
        #expect(fields[.userAgent] == "Alula/1")
        #expect(fields[.acceptEncoding] == "identity")
        #expect(fields[.accept]?.contains("image/webp") == true)
        #expect(fields.count == 3)
    }

    @Test func `a named origin's fields count, and are stored only as hashes`() throws {
        let name = try #require(HTTPField.Name("X-Key"))
        let fields = try Self.rules(key: "secret").selectingFields
        #expect(fields[name]?.utf8.count == 64)
        #expect(!fields.contains { $0.value.contains("secret") })
        #expect(fields[.accept] ?? "" == "")
        let others = try Self.rules(key: "another").selectingFields
        #expect(others[name] != fields[name])
        #expect(others[.userAgent] == fields[.userAgent])
    }

    @Test func `ignored parameters do not prevent a confirmation`() async throws {
        let fixture = try LoaderFixture()
        func request(_ token: Int, _ condition: SourceCondition? = nil) throws -> TransferRequest {
            let identity = SourceIdentity(
                url: try SourceURL(parsing: fixture.origin.url("/a")), rules: fixture.rules.unnamed,
                target: try SourceURL(parsing: fixture.origin.url("/a?token=\(token)")))
            return TransferRequest(identity: identity, condition: condition)
        }
        fixture.origin.serve("/a", .image([1]).with("ETag", "\"1\""))
        guard case .source(let source) = try await fixture.loader.load(request(1), progress: TransferProgress()) else {
            Issue.record("no source")
            return
        }
        fixture.origin.serve("/a", .status(304))
        let condition = SourceCondition(source.head)
        guard case .notModified = try await fixture.loader.load(request(2, condition), progress: TransferProgress())
        else {
            Issue.record("no confirmation")
            return
        }
        #expect(fixture.origin.requests.map(\.target) == ["/a?token=1", "/a?token=2"])
        #expect(fixture.origin.requests.last?.value("If-None-Match") == "\"1\"")
    }
}
