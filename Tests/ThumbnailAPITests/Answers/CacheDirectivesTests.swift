import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

@Suite struct CacheDirectivesTests {
    @Test(
        arguments: [
            (Freshness(lifetime: 3_600), nil, "public, max-age=3600"),
            (Freshness(lifetime: 0), nil, "public, max-age=0"),
            (Freshness(lifetime: 3_600, age: 100), nil, "public, max-age=3600"),
            (Freshness(), nil, "public"),
            (Freshness(storability: .private), nil, "private"),
            (Freshness(storability: .private, lifetime: 60), nil, "private, max-age=60"),
            (Freshness(storability: .none, lifetime: 60), nil, "no-store"),
            (Freshness(lifetime: 3_600), 100, "public, max-age=100"),
            (Freshness(lifetime: 3_600, age: 100), 100, "public, max-age=100"),
            (Freshness(lifetime: 60), 100, "public, max-age=60"),
            (Freshness(lifetime: 60), -1, "public, max-age=0"),
            (Freshness(), 100, "public, no-cache"),
            (Freshness(storability: .none), 100, "no-store"),
        ] as [(Freshness, Int?, String)])
    func `a response stays fresh no longer than its source and its target`(
        freshness: Freshness, secondsLeft: Int?, value: String
    ) {
        #expect(freshness.cacheControl(secondsLeft: secondsLeft) == value)
    }

    @Test func `a dialect may extend a response's life in shared caches, but not past its target's expiry`() {
        func text(_ freshness: Freshness, _ secondsLeft: Int? = nil) -> String {
            freshness.cacheControl(secondsLeft: secondsLeft, staleAge: 9)
        }
        #expect(text(Freshness(lifetime: 60)) == "public, max-age=60, stale-while-revalidate=9")
        #expect(text(Freshness(lifetime: 60), 30) == "public, max-age=30")
        #expect(text(Freshness(storability: .private, lifetime: 60)) == "private, max-age=60")
        #expect(text(Freshness(storability: .none, lifetime: 60)) == "no-store" && text(Freshness()) == "public")
    }
}
