import HTTPTypes
import Testing

/// RFC 9111 section 5.2.1.
struct RequestCacheControlTests {
    @Test func `a request without directives has no restrictions`() {
        #expect(RequestCacheControl(nil) == .none)
        #expect(RequestCacheControl("") == .none)
        #expect(RequestCacheControl("no-transform, extension=1") == .none)
    }

    @Test func `each directive is parsed`() {
        let all = RequestCacheControl("No-Cache, no-store, only-if-cached, max-age=5, min-fresh=6, max-stale=7")
        #expect(all.noCache && all.noStore && all.onlyIfCached)
        #expect(all.maxAge == 5)
        #expect(all.minFresh == 6)
        #expect(all.maxStale == 7)
    }

    @Test func `max-stale without a number accepts any age, max-age=0 is a reload`() {
        #expect(RequestCacheControl("max-stale").maxStale == .max)
        #expect(RequestCacheControl("max-stale=x").maxStale == 0)
        #expect(RequestCacheControl("max-age=0").noCache)
        #expect(!RequestCacheControl("max-age=1").noCache)
        #expect(RequestCacheControl("max-age=x").noCache)
    }
}
