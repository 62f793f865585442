import HTTPTypes
import Testing

struct MediaTypeTests {
    @Test(arguments: [("IMAGE/PNG; charset=x", "image/png"), (" image/jpeg ", "image/jpeg"), ("a/b+c", "a/b+c")])
    func `case and parameters do not matter`(value: String, essence: String) {
        #expect(MediaType(value)?.description == essence)
    }

    @Test(arguments: ["", "image", "image/", "/png", "image/p ng", "a/b/c"])
    func `an invalid media type gives nil`(value: String) {
        #expect(MediaType(value) == nil)
    }
}
