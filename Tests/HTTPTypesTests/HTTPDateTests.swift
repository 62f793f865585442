import HTTPTypes
import Testing

struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "SUN, 06 nov 1994 08:49:37 gmt", "sunday, 06-NOV-94 08:49:37 GMT", "sun nov  6 08:49:37 1994",
    ])
    func `the three forms of RFC 9110 are read`(text: String) {
        #expect(HTTPDate(text)?.secondsSince1970 == 784_111_777)
    }

    @Test(arguments: [
        "", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Xxx, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
        "Sunday,  06-Nov-94 08:49:37 GMT", "Sun, 06 Nov +994 08:49:37 GMT",
    ])
    func `any other text is no date`(text: String) {
        #expect(HTTPDate(text) == nil)
    }

    @Test(arguments: [0, 951_782_400, 1_709_164_800, 4_102_444_800, 784_111_777, 68_169_599])
    func `writing and reading are inverse to each other`(seconds: Int) {
        let date = HTTPDate(secondsSince1970: seconds)
        #expect(HTTPDate(date.imfFixdate) == date)
    }

    @Test func `a leap day is written as such`() {
        #expect(HTTPDate(secondsSince1970: 951_782_400).imfFixdate == "Tue, 29 Feb 2000 00:00:00 GMT")
    }

    @Test func `a two-digit year more than fifty years ahead lies in the past`() {
        let now = HTTPDate(secondsSince1970: 1_767_225_600)
        #expect(HTTPDate("Friday, 06-Nov-76 08:49:37 GMT", now: now).map { $0 > now } == true)
        #expect(HTTPDate("Sunday, 06-Nov-94 08:49:37 GMT", now: now).map { $0 < now } == true)
    }
}
