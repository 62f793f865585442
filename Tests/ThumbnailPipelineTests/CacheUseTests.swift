import Testing
import ThumbnailTypes

struct CacheUseTests {
    private typealias Status = CacheLayerStatus

    private static let cases: [([CacheLayerStatus], CacheUse)] = [
        ([Status(.result, outcome: .hit)], .hit),
        ([Status(.result, outcome: .hit), Status(.source, outcome: .hit, timeToLive: -5)], .hit),
        ([Status(.result, outcome: .uriMiss), Status(.shared, outcome: .hit)], .hit),
        ([Status(.result, outcome: .uriMiss, isCollapsed: true)], .joined),
        (
            [
                Status(.result, outcome: .uriMiss), Status(.decoded, outcome: .uriMiss, isCollapsed: true),
                Status(.source, outcome: .hit),
            ], .joined
        ),
        (
            [Status(.result, outcome: .uriMiss), Status(.shared, outcome: .uriMiss), Status(.decoded, outcome: .hit)],
            .decoded
        ),
        (
            [Status(.result, outcome: .uriMiss), Status(.decoded, outcome: .uriMiss), Status(.source, outcome: .hit)],
            .source
        ),
        ([Status(.result, outcome: .uriMiss), Status(.decoded, outcome: .uriMiss)], .source),
        (
            [
                Status(.result, outcome: .uriMiss), Status(.decoded, outcome: .uriMiss),
                Status(.source, outcome: .uriMiss),
            ], .miss
        ),
        ([Status(.result, outcome: .hit), Status(.source, outcome: .stale, forwardStatus: 304)], .miss),
        ([Status(.result, outcome: .uriMiss), Status(.source, outcome: .uriMiss, isCollapsed: true)], .joined),
        ([Status(.source, outcome: .hit)], .hit),
        ([Status(.source, outcome: .uriMiss)], .miss),
    ]

    @Test(arguments: cases.indices) func `the best help of the caches is named`(index: Int) {
        #expect(CacheUse(Self.cases[index].0) == Self.cases[index].1)
    }
}
