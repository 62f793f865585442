import Downloading
import HTTPTypes
import Testing

@testable import ThumbnailPipeline

/// The number of tags that clients may add.
struct TagRateLimiterTests {
    private let client = ClientNetwork(of: IPAddress("192.0.2.1"))
    private var rateLimiter = TagRateLimiter()

    private mutating func take(
        _ count: Int, indexed: Int = 0, at seconds: Int = 0, by other: ClientNetwork? = nil
    ) -> Int {
        rateLimiter.admit(Array(0..<count), indexed: indexed, by: other ?? client, at: .seconds(seconds)).count
    }

    @Test mutating func `the first tags of sources are cheap, further ones of the same source are not`() {
        let first = take(8)
        let further = take(1_000, indexed: 8)
        #expect(first == 8 && further == Int((TagRateLimiter.maximumTokens - 8) / TagRateLimiter.excessWeight))
        let none = take(1, indexed: 8)
        let later = take(1_000, indexed: 8, at: 1)
        #expect(none == 0 && later == Int(TagRateLimiter.tokensPerSecond / TagRateLimiter.excessWeight))
    }

    @Test mutating func `one client uses no other's allowance`() {
        _ = take(1_000, indexed: 64)
        let none = take(1, indexed: 64)
        let other = take(8, indexed: 0, by: ClientNetwork(of: IPAddress("2001:db8::1")))
        let same = take(1_000, indexed: 64, by: ClientNetwork(of: IPAddress("2001:db8::2")))
        #expect(none == 0 && other == 8 && same < 256, "addresses of one household count as one")
    }

    @Test mutating func `clients beyond the distinguishable number count as one`() {
        for number in 0..<9_000 {
            _ = take(8, by: ClientNetwork(of: .v4(UInt32(number))))
        }
        _ = take(1_000, indexed: 64, by: ClientNetwork(of: .v4(1 << 30)))
        let another = take(1, indexed: 64, by: ClientNetwork(of: .v4(1 << 30 + 1)))
        #expect(another == 0)
    }
}
