import Telemetry
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

@Suite struct FieldTextTests {
    @Test func `cache layers are written in order, each with its outcome`() {
        let text = CacheStatusText.text([
            CacheLayerStatus(.result, outcome: .uriMiss, isCollapsed: true, isStored: true),
            CacheLayerStatus(.decoded, outcome: .varyMiss, isStored: true), CacheLayerStatus(.source, outcome: .hit),
        ])
        #expect(
            text == "alula-result;fwd=uri-miss;stored;collapsed, alula-decoded;fwd=vary-miss;stored, alula-source;hit")
        #expect(CacheStatusText.text([CacheLayerStatus(.source, outcome: .stale)]) == "alula-source;fwd=stale")
        #expect(CacheStatusText.text([CacheLayerStatus(.source, outcome: .request)]) == "alula-source;fwd=request")
    }

    @Test func `a layer has the next one's status and its own remaining lifetime`() {
        let layers = [
            CacheLayerStatus(.result, outcome: .hit),
            CacheLayerStatus(.source, outcome: .stale, isStored: true, forwardStatus: 304),
        ]
        #expect(CacheStatusText.text(layers) == "alula-result;hit, alula-source;fwd=stale;fwd-status=304;stored")
        #expect(
            CacheStatusText.text([CacheLayerStatus(.source, outcome: .hit, timeToLive: -7)])
                == "alula-source;hit;ttl=-7")
    }

    @Test func `timings are milliseconds with three decimals`() {
        let steps = [StepTiming("decode", duration: .microseconds(4_007)), StepTiming("render", duration: .zero)]
        #expect(
            ServerTiming.text(steps, total: .seconds(12))
                == "decode;dur=4.007, render;dur=0.000, total;dur=12000.000")
        #expect(ServerTiming.text([], total: .microseconds(-5)) == "total;dur=0.000")
    }
}
