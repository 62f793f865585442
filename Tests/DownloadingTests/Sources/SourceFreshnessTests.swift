import HTTPTypes
import Testing

@testable import Downloading

/// Lifetime and age (RFC 9111 sections 4.2.1 to 4.2.3).
struct SourceFreshnessTests {
    private static let received = HTTPDate(secondsSince1970: 1_800_000_000)

    private static func date(_ offset: Int) -> String {
        HTTPDate(secondsSince1970: received.secondsSince1970 + offset).imfFixdate
    }

    private static func freshness(_ fields: [(HTTPField.Name, String)], delay: Int = 0) -> SourceFreshness {
        SourceFreshness(
            status: 200, headerFields: HTTPFields(fields.map { HTTPField(name: $0, value: $1) }),
            requestedAt: HTTPDate(secondsSince1970: received.secondsSince1970 - delay), receivedAt: received)
    }

    private static func isFresh(_ freshness: SourceFreshness, after seconds: Int) -> Bool {
        freshness.isFresh(at: received.secondsSince1970 + seconds)
    }

    @Test(
        arguments: [
            (nil, nil),
            ("", nil),
            ("public", nil),
            ("max-age=60", 60),
            ("Max-Age=60", 60),
            ("max-age=\"60\"", 60),
            ("max-age=0", 0),
            ("s-maxage=10, max-age=60", 10),
            ("max-age=10, s-maxage=60", 60),
            ("no-cache", 0),
            ("no-cache, max-age=60", 0),
            ("no-cache=\"set-cookie\", max-age=60", 0),
            ("max-age=60, max-age=90", 0),
            ("max-age=many", 0),
            ("max-age=-1", 0),
            ("max-age", 0),
            ("max-age=99999999999999999999", 1 << 31),
            ("must-revalidate", nil),
        ] as [(String?, Int?)])
    func `the lifetime is Cache-Control's`(control: String?, lifetime: Int?) {
        let freshness = Self.freshness(control.map { [(.cacheControl, $0)] } ?? [])
        #expect(freshness.lifetime == lifetime ?? 3_600)
        #expect(freshness.isLifetimeKnown == (lifetime != nil))
        #expect(freshness.storability == .shared)
    }

    @Test(
        arguments: [
            (date(30), nil, 30),
            (date(30), date(-70), 100),
            (date(-1), nil, 0),
            (date(0), date(0), 0),
            ("0", nil, 0),
            ("soon", nil, 0),
        ] as [(String, String?, Int)])
    func `Expires counts from Date`(expires: String, date: String?, lifetime: Int) {
        let fields: [(HTTPField.Name, String)] = [(.expires, expires)] + (date.map { [(.date, $0)] } ?? [])
        #expect(Self.freshness(fields).lifetime == lifetime)
    }

    @Test func `Cache-Control takes precedence over Expires`() {
        #expect(Self.freshness([(.expires, Self.date(30)), (.cacheControl, "max-age=5")]).lifetime == 5)
        #expect(Self.freshness([(.expires, Self.date(30)), (.cacheControl, "no-cache")]).lifetime == 0)
    }

    @Test func `directives on several lines count together`() {
        let freshness = Self.freshness([(.cacheControl, "max-age=60"), (.cacheControl, "private")])
        #expect(freshness.lifetime == 60)
        #expect(freshness.storability == .private)
    }

    @Test func `it is fresh until its age reaches the lifetime`() {
        let freshness = Self.freshness([(.cacheControl, "max-age=60")])
        #expect(Self.isFresh(freshness, after: 59))
        #expect(!Self.isFresh(freshness, after: 60))
    }

    @Test func `a source without freshness information is fresh for an hour`() {
        let freshness = Self.freshness([])
        #expect(Self.isFresh(freshness, after: 3_599))
        #expect(!Self.isFresh(freshness, after: 3_600))
        #expect(!freshness.isLifetimeKnown)
    }

    @Test(arguments: [(0, 0), (9, 0), (1_000, 100), (864_000, 86_400), (10_000_000, 86_400), (-50, 0)])
    func `without an explicit lifetime it is a tenth of the time since the last change, at most a day`(
        unchanged: Int, lifetime: Int
    ) {
        for date in [nil, Self.date(0)] {
            let fields: [(HTTPField.Name, String)] =
                [(.lastModified, Self.date(-unchanged))] + (date.map { [(.date, $0)] } ?? [])
            let freshness = Self.freshness(fields)
            #expect(freshness.lifetime == lifetime)
            #expect(freshness.isLifetimeKnown)
        }
    }

    @Test func `an explicit lifetime takes precedence over a heuristic one`() {
        #expect(Self.freshness([(.lastModified, Self.date(-1_000)), (.cacheControl, "max-age=5")]).lifetime == 5)
        #expect(Self.freshness([(.lastModified, Self.date(-1_000)), (.expires, "0")]).lifetime == 0)
        #expect(!Self.freshness([(.lastModified, "long ago")]).isLifetimeKnown)
    }

    @Test func `the response delay counts`() {
        #expect(Self.freshness([(.age, "10")], delay: 4).age(at: Self.received.secondsSince1970) == 14)
        #expect(Self.freshness([], delay: 4).age(at: Self.received.secondsSince1970) == 4)
        #expect(Self.freshness([(.date, Self.date(-9))], delay: 4).age(at: Self.received.secondsSince1970) == 9)
        #expect(Self.freshness([], delay: -4).age(at: Self.received.secondsSince1970) == 0)
    }

    @Test func `a response that varies by anything is never fresh`() {
        for vary in ["*", "Accept, *"] {
            let freshness = Self.freshness([(.vary, vary), (.cacheControl, "max-age=60")])
            #expect(freshness.alwaysNeedsValidation)
            #expect(!Self.isFresh(freshness, after: 0))
        }
        #expect(Self.isFresh(Self.freshness([(.vary, "Accept"), (.cacheControl, "max-age=60")]), after: 0))
    }

    @Test(
        arguments: [
            ("30", nil, 30),
            ("30", date(-50), 50),
            ("70", date(-50), 70),
            (nil, date(-50), 50),
            (nil, date(50), 0),
            ("5, 7", nil, 5),
            (" 5 ", nil, 5),
            ("-5", nil, 0),
            ("+5", nil, 0),
            ("old", nil, 0),
            ("", nil, 0),
            ("9223372036854775807", nil, 1 << 31),
            ("99999999999999999999", nil, 1 << 31),
        ] as [(String?, String?, Int)])
    func `the age on arrival is the larger of Age and the time since Date`(age: String?, date: String?, seconds: Int) {
        let fields: [(HTTPField.Name, String)] =
            (age.map { [(.age, $0)] } ?? []) + (date.map { [(.date, $0)] } ?? [])
        let freshness = Self.freshness(fields)
        #expect(freshness.age(at: Self.received.secondsSince1970) == seconds)
        #expect(freshness.age(at: Self.received.secondsSince1970 + 9) == seconds + 9)
    }

    @Test func `the first of several Age lines counts`() {
        let freshness = Self.freshness([(.age, "40"), (.age, "90"), (.cacheControl, "max-age=60")])
        #expect(Self.isFresh(freshness, after: 19))
        #expect(!Self.isFresh(freshness, after: 20))
    }

    @Test func `an overflowing age makes it stale`() {
        let freshness = Self.freshness([(.age, "99999999999999999999"), (.cacheControl, "max-age=60")])
        #expect(!Self.isFresh(freshness, after: 1))
    }

    @Test func `a clock set back never makes a response younger than on arrival`() {
        let freshness = Self.freshness([(.age, "30"), (.cacheControl, "max-age=60")])
        #expect(freshness.age(at: 0) == 30)
        #expect(freshness.isFresh(at: 0))
        #expect(!Self.isFresh(freshness, after: 30))
    }
}
