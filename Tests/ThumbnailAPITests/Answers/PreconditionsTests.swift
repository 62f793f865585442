import HTTPTypes
import Testing

@testable import ThumbnailAPI

@Suite struct PreconditionsTests {
    private static let date = HTTPDate(secondsSince1970: 784_111_777)

    @Test(arguments: [
        ("\"abc\"", true), ("W/\"abc\"", true), ("*", true), ("\"x\", \"abc\"", true), ("\"x\",W/\"abc\" ,\"y\"", true),
        ("\"x\"", false), ("abc", false), ("\"ABC\"", false), ("w/\"abc\"", false), ("\"a,\"abc\"\"", false),
        ("", false),
        ("\"x,abc\"", false),
    ])
    func `entity tags are compared weakly`(candidates: String, isMatch: Bool) {
        #expect(
            Preconditions.isNotModified([.ifNoneMatch: candidates], eTag: "\"abc\"", lastModified: nil) == isMatch)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("Sun, 06 Nov 1994 08:49:38 GMT", true),
        ("Sun, 06 Nov 1994 08:49:36 GMT", false), ("yesterday", false),
    ])
    func `dates are compared only without entity tags`(since: String, isNotModified: Bool) {
        let fields: HTTPFields = [.ifModifiedSince: since]
        #expect(
            Preconditions.isNotModified(fields, eTag: "\"abc\"", lastModified: Self.date) == isNotModified)
        #expect(!Preconditions.isNotModified(fields, eTag: "\"abc\"", lastModified: nil))
    }

    @Test func `a tag that does not match overrides a date that does`() {
        let fields: HTTPFields = [.ifNoneMatch: "\"x\"", .ifModifiedSince: Self.date.imfFixdate]
        #expect(!Preconditions.isNotModified(fields, eTag: "\"abc\"", lastModified: Self.date))
    }
}
