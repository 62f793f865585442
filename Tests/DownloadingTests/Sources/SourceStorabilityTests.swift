import HTTPTypes
import Testing

@testable import Downloading

/// Responses that a shared cache stores (RFC 9111 section 3).
struct SourceStorabilityTests {
    @Test(
        arguments: [
            ("no-store", .none),
            ("NO-STORE", .none),
            ("no-store, private", .none),
            ("no-store, max-age=60", .none),
            ("private", .private),
            ("private, max-age=60", .private),
            ("private=\"set-cookie\"", .private),
            ("private, must-understand", .private),
            ("max-age=60", .shared),
            ("no-cache", .shared),
            ("public", .shared),
            ("", .shared),
            ("no-store, must-understand", .shared),
            ("extension=\"no-store\"", .shared),
        ] as [(String, SourceStorability)])
    func `a 200 is stored unless it forbids it`(control: String, storability: SourceStorability) {
        #expect(Self.storability(200, control) == storability)
    }

    @Test(
        arguments: [
            (203, "", .shared),
            (201, "", .unstated),
            (202, "", .unstated),
            (226, "must-revalidate", .unstated),
            (202, "public", .shared),
            (201, "max-age=60", .shared),
            (201, "s-maxage=60", .shared),
            (226, "max-age=60, must-understand", .unstated),
            (226, "no-store, must-understand", .none),
            (226, "no-store", .none),
        ] as [(Int, String, SourceStorability)])
    func `statuses of unknown meaning need an explicit lifetime`(
        status: Int, control: String, storability: SourceStorability
    ) {
        #expect(Self.storability(status, control) == storability)
    }

    @Test func `Expires is an explicit lifetime, whatever its value`() {
        #expect(Self.storability(201, "", hasExpires: true) == .shared)
    }

    @Test(
        arguments: [
            ("", .perClient, 0, true), ("max-age=60", .perClient, 60, true),
            ("private, max-age=60", .perClient, 60, true), ("private", .perClient, 0, true),
            ("public, max-age=60", .shared, 60, false), ("public", .shared, 0, false),
            ("s-maxage=60", .shared, 60, true), ("public, private, max-age=60", .perClient, 60, true),
            ("no-store", .none, 0, true), ("no-store, max-age=60", .none, 60, true), ("no-cache", .perClient, 0, true),
        ] as [(String, SourceStorability, Int, Bool)])
    func `a private source is its client's, and needs a stated lifetime`(
        control: String, storability: SourceStorability, lifetime: Int, isMemoryOnly: Bool
    ) {
        let now = HTTPDate(secondsSince1970: 1_800_000_000)
        let fields: HTTPFields = [.cacheControl: control, .lastModified: "Wed, 01 Jan 2025 00:00:00 GMT"]
        let freshness = SourceFreshness(
            status: 200, headerFields: fields, requestedAt: now, receivedAt: now, isPrivate: true)
        #expect(freshness.storability == storability && freshness.lifetime == lifetime)
        #expect(freshness.isMemoryOnly == isMemoryOnly && freshness.alwaysNeedsValidation == (lifetime == 0))
        let unknown = SourceFreshness(
            status: 202, headerFields: [:], requestedAt: now, receivedAt: now, isPrivate: true)
        #expect(unknown.storability == .private)
    }

    private static func storability(
        _ status: Int, _ control: String, hasExpires: Bool = false
    ) -> SourceStorability {
        SourceStorability(status: status, control: CacheControl(control), hasExpires: hasExpires)
    }
}
