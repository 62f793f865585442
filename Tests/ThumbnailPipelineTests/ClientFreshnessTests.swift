import Downloading
import HTTPTypes
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// The freshness of a source in responses to clients.
struct ClientFreshnessTests {
    private static let received = 1_800_000_000

    private static func freshness(
        _ fields: HTTPFields, status: Int = 200, after seconds: Int = 0, isFromCache: Bool = true, minimum: Int? = nil,
        maximum: Int? = nil, fixed: Int? = nil
    ) -> Freshness {
        let date = HTTPDate(secondsSince1970: received)
        let source = SourceFreshness(status: status, headerFields: fields, requestedAt: date, receivedAt: date)
        var bounds = ClientMaxAge()
        (bounds.minimum, bounds.maximum, bounds.fixed) = (minimum, maximum, fixed)
        return Freshness(source, at: received + seconds, isFromCache: isFromCache, bounds: bounds)
    }

    @Test func `without bounds it is the source's lifetime and age`() {
        #expect(Self.freshness([.cacheControl: "max-age=100"], after: 30) == Freshness(lifetime: 100, age: 30))
        #expect(
            Self.freshness([.cacheControl: "max-age=100"], isFromCache: false) == Freshness(lifetime: 100, age: nil))
        #expect(
            Self.freshness([.cacheControl: "max-age=100", .age: "7"], isFromCache: false)
                == Freshness(lifetime: 100, age: 7)
        )
        #expect(Self.freshness([:]) == Freshness(lifetime: nil, age: 0))
        #expect(Self.freshness([.cacheControl: "no-cache"]) == Freshness(lifetime: 0, age: 0))
        #expect(Self.freshness([:], status: 201) == Freshness(lifetime: 0, age: 0))
    }

    @Test(
        arguments: [
            (nil, nil, nil, 30, 100, 30),
            (50, nil, nil, 30, 100, 30),
            (80, nil, nil, 30, 80, nil),
            (nil, 60, nil, 30, 60, nil),
            (nil, 70, nil, 30, 100, 30),
            (20, 60, nil, 90, 20, nil),
            (nil, nil, 500, 30, 500, nil),
            (20, 60, 500, 30, 500, nil),
            (nil, 60, nil, 150, 100, 150),
            (20, nil, nil, 150, 20, nil),
        ] as [(Int?, Int?, Int?, Int, Int, Int?)])
    func `bounds count from the response's arrival`(
        minimum: Int?, maximum: Int?, fixed: Int?, seconds: Int, lifetime: Int, age: Int?
    ) {
        let freshness = Self.freshness(
            [.cacheControl: "max-age=100"], after: seconds, minimum: minimum, maximum: maximum, fixed: fixed)
        #expect(freshness == Freshness(lifetime: lifetime, age: age))
    }

    @Test func `a source without freshness information gets the bounds if there are any`() {
        #expect(Self.freshness([:], minimum: 50).lifetime == 50)
        #expect(Self.freshness([:], maximum: 50).lifetime == 50)
        #expect(Self.freshness([:], fixed: 50).lifetime == 50)
    }

    @Test(arguments: [("private, max-age=10", Freshness.Storability.private), ("no-store", .none)])
    func `private and no-store are unchanged`(control: String, storability: Freshness.Storability) {
        let freshness = Self.freshness([.cacheControl: control], minimum: 900, fixed: 900)
        #expect(freshness.storability == storability)
        #expect(freshness.lifetime != 900)
    }

    private static func freshness(
        ofBoth image: HTTPFields, _ other: HTTPFields, isFromCache: Bool = true, maximum: Int? = nil
    ) -> Freshness {
        let date = HTTPDate(secondsSince1970: received)
        func source(_ fields: HTTPFields) -> SourceFreshness {
            SourceFreshness(status: 200, headerFields: fields, requestedAt: date, receivedAt: date)
        }
        var bounds = ClientMaxAge()
        bounds.maximum = maximum
        return Freshness(
            leastOf: PerSource(source(image), additional: [source(other)]),
            isFromCache: PerSource(isFromCache, additional: [true]), at: received + 5, bounds: bounds)
    }

    @Test func `of two sources the less fresh one counts, in either order`() {
        let long: HTTPFields = [.cacheControl: "max-age=100"]
        let short: HTTPFields = [.cacheControl: "max-age=30"]
        #expect(Self.freshness(ofBoth: long, short) == Freshness(lifetime: 30, age: 5))
        #expect(Self.freshness(ofBoth: short, long) == Freshness(lifetime: 30, age: 5))
        // The remaining time counts, not the lifetime.
        let old: HTTPFields = [.cacheControl: "max-age=100", .age: "80"]
        #expect(Self.freshness(ofBoth: old, short) == Freshness(lifetime: 100, age: 85))
        // A source without freshness information counts as fresh for an hour.
        #expect(Self.freshness(ofBoth: long, [:]) == Freshness(lifetime: 100, age: 5))
        #expect(Self.freshness(ofBoth: [.cacheControl: "max-age=7200"], [:]) == Freshness(lifetime: nil, age: 5))
    }

    @Test func `of two sources the stricter one determines which caches may store the response`() {
        let open: HTTPFields = [.cacheControl: "max-age=30"]
        let closed: HTTPFields = [.cacheControl: "private, max-age=100"]
        #expect(Self.freshness(ofBoth: open, closed) == Freshness(storability: .private, lifetime: 30, age: 5))
        #expect(Self.freshness(ofBoth: closed, open) == Freshness(storability: .private, lifetime: 30, age: 5))
        #expect(Self.freshness(ofBoth: closed, [.cacheControl: "no-store"]).storability == .none)
        // The configured bounds apply only to publicly cacheable responses.
        #expect(Self.freshness(ofBoth: open, closed, maximum: 10).lifetime == 30)
        #expect(Self.freshness(ofBoth: open, open, maximum: 10) == Freshness(lifetime: 10, age: nil))
    }
}
