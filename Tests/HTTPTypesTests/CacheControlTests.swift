import HTTPTypes
import Testing

struct CacheControlTests {
    @Test func `directives are parsed without regard to case, with and without quotes`() {
        let control = CacheControl("Max-Age=60, no-cache=\"set-cookie, x\", PRIVATE ,s-maxage=\"10\"")
        #expect(control.seconds("max-age") == 60)
        #expect(control.seconds("s-maxage") == 10)
        #expect(control.contains("private") && control.argument("no-cache") == "set-cookie, x")
        #expect(control.seconds("stale-if-error") == nil)
    }

    @Test(arguments: ["max-age=-1", "max-age=x", "max-age", "max-age=1.5", "max-age=60, max-age=61"])
    func `a duplicate or invalid number means stale at once`(value: String) {
        #expect(CacheControl(value).seconds("max-age") == 0)
    }

    @Test func `huge numbers are capped, equal duplicates count once`() {
        #expect(CacheControl("max-age=99999999999999999999").seconds("max-age") == 1 << 31)
        #expect(CacheControl("max-age=5, max-age=5").seconds("max-age") == 5)
        #expect(CacheControl(nil).contains("max-age") == false)
    }
}
