import Testing
import ThumbnailTypes

struct CacheUseTests {
    private typealias Status = CacheLayerStatus

    private static let cases: [([CacheLayerStatus], CacheUse)] = [
        ([Status(.result, .hit)], .hit),
        ([Status(.result, .hit), Status(.source, .hit, timeToLive: -5)], .hit),
        ([Status(.result, .uriMiss), Status(.shared, .hit)], .hit),
        ([Status(.result, .uriMiss, isCollapsed: true)], .joined),
        ([Status(.result, .uriMiss), Status(.decoded, .uriMiss, isCollapsed: true), Status(.source, .hit)], .joined),
        ([Status(.result, .uriMiss), Status(.shared, .uriMiss), Status(.decoded, .hit)], .decoded),
        ([Status(.result, .uriMiss), Status(.decoded, .uriMiss), Status(.source, .hit)], .source),
        ([Status(.result, .uriMiss), Status(.decoded, .uriMiss)], .source),
        ([Status(.result, .uriMiss), Status(.decoded, .uriMiss), Status(.source, .uriMiss)], .miss),
        ([Status(.result, .hit), Status(.source, .stale, forwardStatus: 304)], .miss),
        ([Status(.result, .uriMiss), Status(.source, .uriMiss, isCollapsed: true)], .joined),
        ([Status(.source, .hit)], .hit),
        ([Status(.source, .uriMiss)], .miss),
    ]

    @Test(arguments: cases.indices) func `the best help of the caches is named`(index: Int) {
        #expect(CacheUse(Self.cases[index].0) == Self.cases[index].1)
    }
}
