import HTTPTypes
import Testing

@testable import HTTPServing

struct RequestRulesTests {
    private static func isAcceptable(
        _ method: String = "GET", _ target: String = "/", _ fields: HTTPFields = [.host: "a"], isVersion10: Bool = false
    ) -> Bool {
        let request = HTTPRequest(
            method: HTTPRequest.Method(rawValue: method), target: target, headerFields: fields)
        return RequestRules.isAcceptable(request, isVersion10: isVersion10)
    }

    @Test(arguments: ["/", "/a?b", "//", "/a#b", "/\u{e4}"])
    func `origin form is served`(target: String) {
        #expect(Self.isAcceptable("GET", target))
    }

    @Test(arguments: ["", "a", "?", "http://a/", "a:443", "*"])
    func `other forms are not`(target: String) {
        #expect(!Self.isAcceptable("GET", target))
    }

    @Test func `the asterisk is for OPTIONS`() {
        #expect(Self.isAcceptable("OPTIONS", "*"))
    }

    @Test(arguments: ["", "a", "a.b:80", "127.0.0.1", "[::1]:8080", "a_b", "xn--a", "a%20b"])
    func `hosts that may be`(host: String) {
        #expect(Self.isAcceptable("GET", "/", [.host: host]))
    }

    @Test(arguments: ["a b", "a/b", "a@b", "a?b", "a#b", "a\\b", "a<", "\u{e4}"])
    func `hosts that may not be`(host: String) {
        #expect(!Self.isAcceptable("GET", "/", [.host: host]))
    }

    @Test func `one Host, which HTTP 1.0 may leave out`() {
        #expect(!Self.isAcceptable("GET", "/", [:]))
        #expect(Self.isAcceptable("GET", "/", [:], isVersion10: true))
        #expect(!Self.isAcceptable("GET", "/", [.host: "a", .host: "a"]))
        #expect(!Self.isAcceptable("GET", "/", [.host: "a", .host: "a"], isVersion10: true))
    }

    @Test(arguments: ["GET", "HEAD", "POST", "DELETE"])
    func `no body but the announced empty one`(method: String) {
        #expect(Self.isAcceptable(method, "/", [.host: "a", .contentLength: "0"]))
        for length in ["1", "00", "-0", "+0", "0x0", "", "0,0", " "] {
            #expect(!Self.isAcceptable(method, "/", [.host: "a", .contentLength: length]), "\(length)")
        }
        #expect(!Self.isAcceptable(method, "/", [.host: "a", .contentLength: "0", .contentLength: "0"]))
        for coding in ["chunked", "identity", "gzip", ""] {
            #expect(!Self.isAcceptable(method, "/", [.host: "a", .transferEncoding: coding]), "\(coding)")
        }
    }

    @Test func `targets hold no space and no control character, values none but the tab`() {
        for byte in UInt8.min...UInt8.max {
            #expect(RequestRules.isPrintable([byte]) == (byte > 0x20 && byte != 0x7f))
            #expect(RequestRules.isFieldValue([byte]) == (byte == 0x09 || (byte >= 0x20 && byte != 0x7f)))
        }
    }
}
