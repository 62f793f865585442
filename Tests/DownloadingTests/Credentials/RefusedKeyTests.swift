import Coordination
import TestSupport
import Testing

@testable import Downloading

/// Keys that a bucket rejects before they expire.
@Suite(.timeLimit(.minutes(1)))
struct RefusedKeyTests {
    private let fixture: OriginFixture
    private let lender: FakeOrigin
    private let lent = EventCounter()

    init() throws {
        fixture = try OriginFixture()
        lender = try FakeOrigin()
        lender.serveOthers { [lent] _ in
            lent.increment()
            return FakeResponse(
                body: Array(
                    """
                    {"AccessKeyId":"K\(lent.count)","SecretAccessKey":"s","Token":"t","Expiration":"2100-01-01T00:00:00Z"}
                    """.utf8))
        }
    }

    private func load(
        time: any Timekeeper = SystemTimekeeper()
    ) throws -> @Sendable (String) async throws -> Void {
        try fixture.loader(timekeeper: time) {
            $0.credentials = .signature(.container(service: lender.url("/"), nil), region: "eu")
        }
    }

    /// Makes the bucket reject keys.
    private func reject(_ code: String, status: Int = 403, _ isRejected: @escaping @Sendable (String) -> Bool) {
        fixture.origin.serveOthers { request in
            let isRejected = isRejected(request.value("Authorization") ?? "")
            let body = "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>no</Message></Error>"
            return isRejected ? FakeResponse(status: status, body: Array(body.utf8)) : .image([1])
        }
    }

    @Test(arguments: [("ExpiredToken", 400), ("InvalidAccessKeyId", 403), ("InvalidToken", 400)])
    func `the next key is requested at once and used`(code: String, status: Int) async throws {
        reject(code, status: status) { $0.contains("=K1/") }
        let load = try load()
        for path in ["photos:b", "photos:c"] { try await load(path) }
        #expect(lent.count == 2)
        #expect(fixture.origin.requests.map(\.target) == ["/b", "/b", "/c"])
    }

    @Test func `a next key that is rejected, too, is the last one for a minute`() async throws {
        reject("ExpiredToken") { _ in true }
        let time = ManualTimekeeper()
        let load = try load(time: time)
        let rejection = DownloadError.storeRejection(403, code: "ExpiredToken")
        for _ in 0..<3 { await #expect(throws: rejection) { try await load("photos:b") } }
        #expect(lent.count == 2)
        time.advance(by: .seconds(60))
        await #expect(throws: rejection) { try await load("photos:b") }
        #expect(lent.count == 3)
    }

    @Test func `another rejection is reported with its code, and requests no key`() async throws {
        reject("AccessDenied") { _ in true }
        let load = try load()
        await #expect(throws: DownloadError.storeRejection(403, code: "AccessDenied")) { try await load("photos:b") }
        #expect(lent.count == 1)
        fixture.origin.serveOthers { _ in FakeResponse(status: 503, body: Array("<Code>Slow Down</Code>".utf8)) }
        await #expect(throws: DownloadError.status(503)) { try await load("photos:b") }
    }
}
