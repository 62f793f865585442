import Dialects
import HTTPTypes
import Telemetry
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

@Suite struct ParsedTargetsTests {
    private static let resolved = StubThumbnails().resolved(Request(source: "x:y"))

    /// Sends a request; returns whether its target had to be parsed.
    private func isPrepared(
        _ targets: ParsedTargets, _ target: String, accept: String? = nil, tenant: Int = 0
    ) throws -> Bool {
        var wasPrepared = false
        let fields = HTTPFields(accept.map { [HTTPField(name: .accept, value: $0)] } ?? [])
        _ = try targets.resolvedRequest(for: HTTPRequest(target: target, headerFields: fields), of: tenant) {
            _ throws(APIError) in
            wasPrepared = true
            return Self.resolved
        }
        return wasPrepared
    }

    @Test func `a target is prepared once for each Accept`() throws {
        let targets = ParsedTargets()
        #expect(try isPrepared(targets, "/a"))
        #expect(try !isPrepared(targets, "/a"))
        #expect(try isPrepared(targets, "/a", accept: "image/webp"))
        #expect(try !isPrepared(targets, "/a", accept: "image/webp"))
    }

    @Test func `tenants share the room, but no readings`() throws {
        let targets = ParsedTargets(maximumEntries: 10, maximumBytes: 1 << 20)
        for tenant in [0, 1, 0, 1] { _ = try isPrepared(targets, "/a", tenant: tenant) }
        #expect(targets.count == 2)
        #expect(try !isPrepared(targets, "/a", tenant: 1) && isPrepared(targets, "/a", tenant: 2))
        for tenant in 0..<100 { _ = try isPrepared(targets, "/a", tenant: tenant) }
        #expect(targets.count <= 20)
    }

    @Test func `a rejection is not remembered`() throws {
        let targets = ParsedTargets()
        #expect(throws: APIError.badSignature) {
            try targets.resolvedRequest(for: HTTPRequest(target: "/a")) { _ throws(APIError) in throw .badSignature }
        }
        #expect(targets.count == 0)
        #expect(try isPrepared(targets, "/a"))
    }

    @Test func `targets that are equal only as strings are distinguished`() throws {
        let targets = ParsedTargets()
        #expect(try isPrepared(targets, "/K"))
        #expect("/K" == "/\u{212a}", "the Kelvin sign is equal to a K as Swift compares strings")
        #expect(try isPrepared(targets, "/\u{212a}"))
        #expect(try !isPrepared(targets, "/\u{212a}"))
        #expect(try isPrepared(targets, "/a", accept: "image/webp;q=1"))
        #expect(try isPrepared(targets, "/a", accept: "image/webp\u{37e}q=1"))
    }

    @Test func `entries are limited, and those in use stay`() throws {
        let targets = ParsedTargets(maximumEntries: 10, maximumBytes: 1 << 20)
        _ = try isPrepared(targets, "/hot")
        for index in 0..<1_000 {
            _ = try isPrepared(targets, "/\(index)")
            #expect(try !isPrepared(targets, "/hot"))
            #expect(targets.count <= 20)
        }
        #expect(try isPrepared(targets, "/0"))
    }

    @Test func `bytes are limited`() throws {
        let targets = ParsedTargets(maximumEntries: 1_000, maximumBytes: 10_000)
        let long = String(repeating: "a", count: 1_000)
        for index in 0..<100 { _ = try isPrepared(targets, "/\(index)\(long)") }
        #expect(targets.count <= 4)
    }
}
