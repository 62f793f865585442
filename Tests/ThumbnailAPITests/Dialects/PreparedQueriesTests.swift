import Dialects
import HTTPTypes
import Telemetry
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

@Suite struct PreparedQueriesTests {
    private static let request = ThumbnailRequest(source: "x:y")
    private static let query = PreparedQuery(
        ThumbnailQuery(request: request), StubThumbnails().resolved(request),
        at: ImageRoute(NativeDialect(), isOpen: true, metrics: APIMetrics(registry: MetricsRegistry())))

    /// Asks for a target; whether it had to be prepared.
    private func isPrepared(_ queries: PreparedQueries, _ target: String, accept: String? = nil) throws -> Bool {
        var wasPrepared = false
        let fields = HTTPFields(accept.map { [HTTPField(name: .accept, value: $0)] } ?? [])
        _ = try queries.query(for: HTTPRequest(target: target, headerFields: fields)) { _ throws(APIError) in
            wasPrepared = true
            return Self.query
        }
        return wasPrepared
    }

    @Test func `a target is prepared once for each Accept`() throws {
        let queries = PreparedQueries()
        #expect(try isPrepared(queries, "/a"))
        #expect(try !isPrepared(queries, "/a"))
        #expect(try isPrepared(queries, "/a", accept: "image/webp"))
        #expect(try !isPrepared(queries, "/a", accept: "image/webp"))
    }

    @Test func `a refusal is not remembered`() throws {
        let queries = PreparedQueries()
        #expect(throws: APIError.badSignature) {
            try queries.query(for: HTTPRequest(target: "/a")) { _ throws(APIError) in throw .badSignature }
        }
        #expect(queries.count == 0)
        #expect(try isPrepared(queries, "/a"))
    }

    @Test func `targets that only compare equal as strings are kept apart`() throws {
        let queries = PreparedQueries()
        #expect(try isPrepared(queries, "/K"))
        #expect("/K" == "/\u{212a}", "the Kelvin sign is equal to a K as Swift compares strings")
        #expect(try isPrepared(queries, "/\u{212a}"))
        #expect(try !isPrepared(queries, "/\u{212a}"))
        #expect(try isPrepared(queries, "/a", accept: "image/webp;q=1"))
        #expect(try isPrepared(queries, "/a", accept: "image/webp\u{37e}q=1"))
    }

    @Test func `entries are bounded, and those in use stay`() throws {
        let queries = PreparedQueries(maximumEntries: 10, maximumBytes: 1 << 20)
        _ = try isPrepared(queries, "/hot")
        for index in 0..<1_000 {
            _ = try isPrepared(queries, "/\(index)")
            #expect(try !isPrepared(queries, "/hot"))
            #expect(queries.count <= 20)
        }
        #expect(try isPrepared(queries, "/0"))
    }

    @Test func `bytes are bounded`() throws {
        let queries = PreparedQueries(maximumEntries: 1_000, maximumBytes: 10_000)
        let long = String(repeating: "a", count: 1_000)
        for index in 0..<100 { _ = try isPrepared(queries, "/\(index)\(long)") }
        #expect(queries.count <= 4)
    }
}
