import Coordination
import Glibc
import HTTPTypes
import JSON
import Memory
import Recipes
import TestSupport
import Testing
import Text

@testable import Composition

/// Tenants' bills and limits in the whole service.
@Suite(.timeLimit(.minutes(1)))
struct TenantCostTests {
    private let file = Locked("{}")

    private func withTenants(_ tenants: String, _ body: (RunningService) async throws -> Void) async throws {
        file.withLock { $0 = "{ costHeader: 'on', tenants: { \(tenants) } }" }
        let running = try RunningService(["--access-log", "off"], file: file)
        running.origin.serve(
            "/a.png", .image(ImageFixture.png.array, type: "image/png").with("Cache-Control", "max-age=60"))
        do {
            try await body(running)
            await running.stop()
        } catch {
            await running.stop()
            throw error
        }
    }

    /// A number of a tenant in `/tenants`, such as `windows`, `1m`, `hits`; 0 if there is none.
    private func number(_ running: RunningService, _ name: String, _ path: ExactText...) async throws -> Double {
        let body = try await running.send("GET", "/tenants", to: .admin).text
        guard case .array(let tenants)? = try JSONReader.value(in: Array(body.utf8)).members?["tenants"] else {
            return -1
        }
        let tenant = tenants.first { if case .string(name)? = $0.members?["name"] { true } else { false } }
        switch path.reduce(tenant, { $0?.members?[$1] }) {
        case .int(let number): return Double(number)
        case .double(let number): return number
        default: return 0
        }
    }

    @Test func `a miss pays its work and its source, a hit the bytes that are sent`() async throws {
        try await withTenants("shop: { hosts: ['localhost'] }") { running in
            let miss = try await running.thumbnail("/a.png")
            let cost = try #require(miss.headerFields[.alulaCost])
            let size = ImageFixture.png.array.count
            #expect(cost.hasSuffix("origin;bytes=\(size), sent;bytes=\(miss.body.count)"), "\(cost)")
            #expect(!cost.hasPrefix("processor;dur=0.0,"), "\(cost)")
            let client = try running.connect()
            for _ in 0..<3 {
                client.send("GET \(running.target("/a.png")) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let hit = try await client.response()
                let text = "processor;dur=0.0, origin;bytes=0, sent;bytes=\(hit.body.count)"
                #expect(hit.headerFields[.alulaCost] == text)
            }
            #expect(try await running.send("GET", "/thumbnail?url=x").status == 400)
            #expect(try await number(running, "shop", "requests") == 5)
            #expect(try await number(running, "shop", "windows", "1m", "hits") == 3)
            #expect(try await number(running, "shop", "originBytes") == Double(size))
            #expect(try await number(running, "shop", "refusals", "bad_url") == 1)
            #expect(try await number(running, "shop", "processorSeconds") > 0)
            #expect(try await number(running, "default", "requests") == 0)
            let status = try await running.send("GET", "/status", to: .admin).text
            let start = #""tenants":[{"name":"shop","requests":5,"hits":3,"refusals":{"bad_url":1},"processor"#
            #expect(status.contains(start))
            #expect(status.contains(#","waiting":0}],"settings":"#))
        }
    }

    @Test(arguments: ["on", "off"])
    func `a service without tenants accounts for the default if it shows costs`(header: String) async throws {
        file.withLock { $0 = "{ costHeader: '\(header)' }" }
        let running = try RunningService(["--access-log", "off"], file: file)
        running.origin.serve(
            "/a.png", .image(ImageFixture.png.array, type: "image/png").with("Cache-Control", "max-age=60"))
        let client = try running.connect()
        for _ in 0..<3 {
            client.send("GET \(running.target("/a.png")) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try await client.response().status == 200)
        }
        let tenants = try await running.send("GET", "/tenants", to: .admin).text
        #expect(tenants.contains(#""name":"default""#) == (header == "on"), "\(tenants)")
        if header == "on" {
            #expect(try await number(running, "default", "requests") == 3)
            #expect(try await number(running, "default", "hits") == 2)
        }
        await running.stop()
    }

    @Test func `above the rate, requests get 429 with the policy, also repeated hits`() async throws {
        try await withTenants("shop: { hosts: ['localhost'], rate: '4/s' }, other: { hosts: ['other.example'] }") {
            running in
            let client = try running.connect()
            var statuses: [Int] = []
            var last: RawHTTPClient.Response?
            for _ in 0..<20 {
                client.send("GET \(running.target("/a.png")) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let answer = try await client.response()
                statuses.append(answer.status)
                if answer.status == 429 { last = answer }
            }
            #expect(statuses.prefix(4) == [200, 200, 200, 200] && statuses.filter { $0 == 429 }.count >= 10)
            let refused = try #require(last)
            #expect(refused.text.contains("rate_limited") && refused.headerFields[.retryAfter] == "1")
            #expect(refused.headerFields[.rateLimit] == "\"rate\";r=0;t=1")
            #expect(refused.headerFields[.rateLimitPolicy] == "\"rate\";q=4;w=1")
            client.send("GET \(running.target("/a.png")) HTTP/1.1\r\nHost: other.example\r\n\r\n")
            #expect(try await client.response().status == 200)
        }
    }

    @Test func `above a quota only cached results are served`() async throws {
        try await withTenants("shop: { hosts: ['localhost'], originBytes: '10/24h' }") { running in
            #expect(try await running.thumbnail("/a.png").status == 200)
            #expect(try await running.thumbnail("/a.png").status == 200)
            let refused = try await running.thumbnail("/a.png", "w=33")
            #expect(refused.status == 429 && refused.text.contains("quota_exceeded"))
            #expect(refused.headerFields[.rateLimitPolicy] == "\"originBytes\";q=10;w=86400")
        }
    }

    /// Most of the process's time is image work.
    @Test func `the bills' processor time is the kernel's`() async throws {
        let size = PixelSize(width: 2_400, height: 1_800)
        let image = SampleImage(size, bands: 3) { x, y in
            [UInt8(truncatingIfNeeded: x &* y), UInt8(truncatingIfNeeded: x &+ y), UInt8(truncatingIfNeeded: x ^ y)]
        }
        let bytes = ImageFixture.file(image, as: .png)
        try await withTenants("shop: { hosts: ['localhost'] }") { running in
            for index in 0..<3 { running.origin.serve("/\(index).png", .image(bytes, type: "image/png")) }
            _ = try await running.thumbnail("/a.png")
            let before = (Self.processTime, try await number(running, "shop", "processorSeconds"))
            for index in 0..<3 {
                #expect(try await running.thumbnail("/\(index).png", "w=2300&format=webp&q=95").status == 200)
            }
            let billed = try await number(running, "shop", "processorSeconds") - before.1
            let used = (Self.processTime - before.0).seconds
            #expect(billed > 0.9 * used && billed < 1.1 * used, "\(billed) of \(used)")
        }
    }

    private static var processTime: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
