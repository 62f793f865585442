import HTTPTypes
import Testing

struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "SUN, 06 nov 1994 08:49:37 gmt", "sunday, 06-NOV-94 08:49:37 GMT", "sun nov  6 08:49:37 1994",
    ])
    func `the three forms of RFC 9110 are parsed`(text: String) {
        #expect(HTTPDate(text)?.secondsSince1970 == 784_111_777)
    }

    @Test(arguments: [
        "", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Xxx, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
        "Sunday,  06-Nov-94 08:49:37 GMT", "Sun, 06 Nov +994 08:49:37 GMT",
    ])
    func `any other text is not a date`(text: String) {
        #expect(HTTPDate(text) == nil)
    }

    @Test(arguments: [0, 951_782_400, 1_709_164_800, 4_102_444_800, 784_111_777, 68_169_599])
    func `writing and parsing are inverse`(seconds: Int) {
        let date = HTTPDate(secondsSince1970: seconds)
        #expect(HTTPDate(date.imfFixdate) == date)
    }

    @Test(arguments: [
        "1994-11-06T08:49:37Z", "1994-11-06T08:49:37.000Z", "1994-11-06T08:49:37.9Z", "1994-11-06T08:49:37+00:00",
    ])
    func `instants of ISO 8601 in UTC are parsed`(text: String) {
        #expect(HTTPDate(iso8601: text)?.secondsSince1970 == 784_111_777)
    }

    @Test(arguments: [
        "", "Z", "1994-11-06", "1994-11-06T08:49:37", "1994-11-06T08:49:37+01:00", "1994-13-06T08:49:37Z",
        "1994-02-29T08:49:37Z", "1994-11-00T08:49:37Z", "1994-11-06T24:49:37Z", "1994-11-06T08:60:37Z",
        "1994-11-06T08:49:37.Z", "1994-11-06T08:49:37.xZ", "1994-11-06 08:49:37Z", "94-11-06T08:49:37Z",
        "1994-11-06T08:49Z", "1994-11-06T08:49:37:00Z", "+994-11-06T08:49:37Z", "1994-00-06T08:49:37Z",
    ])
    func `other texts are not instants`(text: String) {
        #expect(HTTPDate(iso8601: text) == nil)
    }

    @Test func `a leap day is written correctly`() {
        #expect(HTTPDate(secondsSince1970: 951_782_400).imfFixdate == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(HTTPDate(secondsSince1970: 951_827_696).basicISO8601 == "20000229T123456Z")
    }

    @Test func `a two-digit year more than fifty years ahead is in the past`() {
        let now = HTTPDate(secondsSince1970: 1_767_225_600)
        #expect(HTTPDate("Friday, 06-Nov-76 08:49:37 GMT", now: now).map { $0 > now } == true)
        #expect(HTTPDate("Sunday, 06-Nov-94 08:49:37 GMT", now: now).map { $0 < now } == true)
    }
}
