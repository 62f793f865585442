import Glibc
import Memory
import TestSupport
import Testing
import Text

@testable import Downloading

/// Destinations of results, and the files written there.
@Suite(.timeLimit(.minutes(1)))
struct DestinationTests {
    private let folder = TemporaryFolder()

    private func rules() throws -> DownloadRules {
        var out = Origin(name: "out", location: .folder(path: folder.path))
        out.isWritable = true
        var bucket = Origin(name: "bucket", location: .web(base: try SourceURL(parsing: "https://s3.example/b/sub")))
        bucket.credentials = .signature(.fixed(.init(id: "i", secret: Secret("k"))), region: "eu")
        bucket.isWritable = true
        var reserved = Origin(name: "read", location: .folder(path: folder.path))
        reserved.isWritable = false
        return DownloadRules(
            DownloadConfiguration(origins: [out, bucket, reserved, Origin(name: "memory", location: .memory([1]))]))
    }

    private func rejection(_ text: String) throws -> Destination.Rejection? {
        let rules = try rules()
        do throws(Destination.Rejection) {
            _ = try Destination(ExactText(text), among: rules)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("out:a.webp", "out:a.webp"), ("out:/x/y z.webp", "out:x/y z.webp"), ("out:a%2fb", "out:a%2fb"),
        ("out:%2e%2e.jpg", "out:%2e%2e.jpg"), ("out:100%.jpg", "out:100%.jpg"), ("out:.hidden/...", "out:.hidden/..."),
        ("bucket:a b.jpg", "bucket:a%20b.jpg"),
        ("bucket:ü/é.jpg", "bucket:%C3%BC/%C3%A9.jpg"), ("bucket:a%20b", "bucket:a%20b"),
        ("out:alula-2/x", "out:alula-2/x"),
    ])
    func `a destination's name resolves to the same destination`(text: String, location: String) throws {
        let rules = try rules()
        let place = try Destination(ExactText(text), among: rules)
        #expect(place.location == location)
        #expect(try rules.identity(of: ExactText(location)) == place.identity)
    }

    @Test(arguments: [
        "out:", "out:/", "out:a/", "out://a", "out:a//b", "out:../a", "out:a/../../b", "out:./a", "out:a/.",
        "out:a?b", "out:a#b", "out:a\\b", "out:a\u{0}", "out:a\nb", "out:a\u{7f}", "out:alula-1/v/x", "out:ALULA-1/x",
        "out:a/alula-1/b", "out:%61lula-1/x", "out:a/%2e%2e/b", "out:a%2falula-1", "bucket:", "bucket:..",
        "bucket:%2e%2e/x", "bucket:a%2f..%2f..%2fx", "bucket:a/..;x/b",
        "bucket:%61lula-1/v/x", "bucket:a%2falula-1%2fx", "bucket:a%2f%2fb", "bucket:%2fa", "bucket:a%0ab",
        "bucket:%zz",
        "bucket:a%5cb", "bucket:%ff", "bucket:a%00", "bucket:http://other/x", "noplace",
    ])
    func `no text leads out of an origin, to its stored values or to an incomplete name`(text: String) throws {
        #expect(try rejection(text) == .malformed)
        #expect(try rejection("out:" + String(repeating: "a", count: 256)) == .malformed)
        #expect(try rejection("out:" + String(repeating: "a/", count: 600) + "a") == .malformed)
    }

    @Test(arguments: [
        "read:a", "memory:a", "none:a", "none:../a", "http://h/a", "https://s3.example/b/a", ":a", "OUT:a",
    ])
    func `a read-only or unknown origin accepts nothing`(text: String) throws {
        #expect(try rejection(text) == .notWritable)
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(folder.path + "/" + path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test func `a file is written atomically, replaces another, and is readable by others`() async throws {
        let mask = umask(0o022)
        defer { umask(mask) }
        let rules = try rules()
        let writable = WritableOrigins(rules, web: StubLoader(), maximumReads: 8)
        let place = try Destination("out:a/b/c.webp", among: rules)
        #expect(try await !writable.holds(place))
        for count in [70_000, 3] {
            try await writable.put(
                SharedBytes(bytes(count)), at: place, description: ObjectDescription(mediaType: "image/webp"))
            #expect(try await writable["out"]?.object(named: "a/b/c.webp", atMost: 1 << 20)?.array == bytes(count))
        }
        #expect(try await writable.holds(place))
        #expect(mode("a/b/c.webp") == 0o644 && mode("a/b") == 0o755 && mode("alula-1") == 0o700)
        try await writable["out"]?.store(SharedBytes([1]), named: "alula-1/v/x", isDurable: false)
        #expect(mode("alula-1/v/x") == 0o600)
        writable.shutDown()
    }

    @Test func `a link below the folder leads nowhere`() async throws {
        let other = TemporaryFolder()
        folder.link("away", to: other.path)
        folder.link("file", to: other.path + "/target")
        other.write("target", [9])
        let rules = try rules()
        let writable = WritableOrigins(rules, web: StubLoader(), maximumReads: 8)
        await #expect(throws: DownloadError.self) {
            try await writable.put(
                SharedBytes([1]), at: try Destination("out:away/x", among: rules), description: ObjectDescription())
        }
        // The link itself is replaced.
        try await writable.put(
            SharedBytes([1]), at: try Destination("out:file", among: rules), description: ObjectDescription())
        var status = stat()
        #expect(unsafe lstat(folder.path + "/file", &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
        #expect(unsafe access(other.path + "/x", F_OK) != 0)
        folder.write("is/a/folder", [1])
        await #expect(throws: DownloadError.self) {
            try await writable.put(
                SharedBytes([1]), at: try Destination("out:is", among: rules), description: ObjectDescription())
        }
        writable.shutDown()
    }

    @Test func `a store receives the type and lifetime of an object`() async throws {
        let fixture = try OriginFixture()
        fixture.origin.serveOthers { request in
            request.method == "PUT" ? FakeResponse(body: []) : request.target == "/x/a%20b.webp" ? .image([1]) : nil
        }
        let configuration = try fixture.configuration { origin in
            origin.credentials = .signature(.fixed(.init(id: "i", secret: Secret("k"))), region: "eu")
            origin.isWritable = true
        }
        let loader = try CurlLoader(configuration: configuration)
        let rules = DownloadRules(configuration)
        let writable = WritableOrigins(rules, web: loader, maximumReads: 8)
        let place = try Destination("photos:x/a b.webp", among: rules)
        try await writable.put(
            SharedBytes([1, 2, 3]), at: place,
            description: ObjectDescription(mediaType: "image/webp", cacheControl: "public, max-age=60"))
        let request = try #require(fixture.origin.requests.first)
        #expect(request.method == "PUT" && request.target == "/x/a%20b.webp" && request.body == [1, 2, 3])
        #expect(request.value("Content-Type") == "image/webp")
        #expect(request.value("Cache-Control") == "public, max-age=60")
        #expect(try await writable.holds(place))
        #expect(try await !writable.holds(Destination("photos:y", among: rules)))
    }
}
