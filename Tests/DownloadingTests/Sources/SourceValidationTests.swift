import HTTPTypes
import Testing

@testable import Downloading

/// Conditional requests and the effects of a confirmation (RFC 9111 sections 3.2 and 4.3).
struct SourceValidationTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private static func head(
        _ fields: HTTPFields, url: String? = nil, validator: SourceValidator = .digest("abc"), at seconds: Int = 1_000
    ) -> SourceHead {
        let date = HTTPDate(secondsSince1970: seconds)
        return SourceHead(
            identity: .path("/a"), url: url, validator: validator, headerFields: fields, requestedAt: date,
            receivedAt: date)
    }

    private static func confirmation(_ fields: HTTPFields, at seconds: Int = 2_000) -> SourceConfirmation {
        let date = HTTPDate(secondsSince1970: seconds)
        return SourceConfirmation(headerFields: fields, requestedAt: date, receivedAt: date)
    }

    @Test(
        arguments: [
            ("\"1\"", nil, ["If-None-Match: \"1\""]),
            ("W/\"1\"", nil, ["If-None-Match: W/\"1\""]),
            (nil, date, ["If-Modified-Since: " + date]),
            ("\"1\"", date, ["If-None-Match: \"1\"", "If-Modified-Since: " + date]),
            ("\"\u{e9}\"", date, ["If-Modified-Since: " + date]),
            (nil, "yesterday", nil),
            (nil, nil, nil),
        ] as [(String?, String?, [String]?)])
    func `the origin is revalidated by its validators`(eTag: String?, lastModified: String?, lines: [String]?) {
        var fields = HTTPFields()
        fields[.eTag] = eTag
        fields[.lastModified] = lastModified
        let condition = SourceCondition(Self.head(fields))
        #expect(condition?.fields.map { "\($0.name): \($0.value)" } == lines)
    }

    @Test func `a tag is sent to the URL that gave it, not to one that redirects there`() {
        let head = Self.head([.eTag: "\"1\""], url: "http://example.com/b")
        #expect(SourceCondition(head)?.url == "http://example.com/b")
        #expect(SourceCondition(Self.head([.eTag: "\"1\""]))?.url == "http://example.com/a")
    }

    @Test func `a confirmation renews lifetime, age and dates, and keeps other fields`() throws {
        let head = Self.head([
            .cacheControl: "max-age=10", .eTag: "\"1\"", .age: "5", .date: Self.date, .lastModified: Self.date,
            .contentType: "image/png",
        ])
        let new = try #require(
            head.confirmed(by: Self.confirmation([.cacheControl: "max-age=99", .eTag: "\"1\"", .contentType: "a/b"])))
        #expect(new.freshness.lifetime == 99)
        #expect(new.freshness.age(at: 2_000) == 0)
        #expect(new.headerFields[.age] == nil)
        #expect(new.headerFields[.date] == nil)
        #expect(new.headerFields[.contentType] == "image/png")
        #expect(new.headerFields[.lastModified] == Self.date)
        #expect(new.lastModified == head.lastModified)
        #expect(new.validator == head.validator)
        #expect(new.receivedAt == HTTPDate(secondsSince1970: 2_000))
    }

    @Test func `a confirmation without freshness information restarts the stored lifetime`() throws {
        let new = try #require(Self.head([.cacheControl: "max-age=10"]).confirmed(by: Self.confirmation([:])))
        #expect(new.freshness.lifetime == 10)
        #expect(new.freshness.isFresh(at: 2_009))
        #expect(!new.freshness.isFresh(at: 2_010))
    }

    @Test func `a field of several lines is replaced as a whole`() throws {
        var old: HTTPFields = [.cacheControl: "max-age=10"]
        old.append(.cacheControl, "must-revalidate")
        let new = try #require(Self.head(old).confirmed(by: Self.confirmation([.cacheControl: "max-age=20"])))
        #expect(new.headerFields[.cacheControl] == "max-age=20")
        #expect(!new.freshness.forbidsStale)
    }

    @Test(
        arguments: [
            ("\"1\"", "\"1\"", true), ("\"1\"", "\"2\"", false), ("W/\"1\"", "\"1\"", true),
            ("W/\"1\"", "W/\"2\"", false), (nil, "\"1\"", true), ("\"1\"", nil, true),
        ] as [(String?, String?, Bool)])
    func `a confirmation of another version is rejected`(stored: String?, named: String?, holds: Bool) {
        var old = HTTPFields()
        old[.eTag] = stored
        var new = HTTPFields()
        new[.eTag] = named
        #expect((Self.head(old).confirmed(by: Self.confirmation(new)) != nil) == holds)
    }

    @Test func `a version is selected by the fields that it varies by, absent ones included`() {
        let sent: HTTPFields = [.accept: "image/png", .userAgent: "Test/1"]
        let varying: HTTPFields = [.vary: "Accept, Cookie"]
        let selecting = SourceHead.selectingFields(varying, of: sent)
        let date = HTTPDate(secondsSince1970: 0)
        let head = SourceHead(
            identity: .path("/a"), validator: .digest(""), headerFields: varying, selectingFields: selecting,
            requestedAt: date, receivedAt: date)
        #expect(head.isSelected(by: sent))
        #expect(head.isSelected(by: [.accept: "image/png", .userAgent: "Test/2"]))
        #expect(!head.isSelected(by: [.accept: "image/webp"]))
        #expect(!head.isSelected(by: [:]))
    }
}
