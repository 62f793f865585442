import HTTPTypes
import Testing

@testable import HTTPServing

struct RequestRulesTests {
    private static func isAcceptable(
        _ method: String = "GET", _ target: String = "/", _ fields: HTTPFields = [.host: "a"], isVersion10: Bool = false
    ) -> Bool {
        let request = HTTPRequest(
            method: HTTPRequest.Method(rawValue: method), target: target, headerFields: fields)
        let verdict = RequestRules.verdict(on: request, isVersion10: isVersion10, maximumBodyLength: 0)
        return verdict == .accept(bodyLength: 0)
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

    @Test func `where a route takes a body, its length must be announced and may not be too large`() {
        func verdict(_ fields: HTTPFields, method: HTTPRequest.Method = .post) -> RequestRules.Verdict {
            let request = HTTPRequest(
                method: method, target: "/", headerFields: HTTPFields([HTTPField(name: .host, value: "a")] + fields))
            return RequestRules.verdict(on: request, isVersion10: false, maximumBodyLength: 100)
        }
        #expect(verdict([.contentLength: "0"]) == .accept(bodyLength: 0))
        #expect(verdict([.contentLength: "100"]) == .accept(bodyLength: 100))
        #expect(verdict([.contentLength: "101"]) == .refuse(.bodyTooLarge))
        #expect(verdict([.contentLength: "99999999999999999999999"]) == .refuse(.bodyTooLarge))
        #expect(verdict([:]) == .refuse(.lengthRequired))
        #expect(verdict([.transferEncoding: "chunked"]) == .refuse(.lengthRequired))
        #expect(verdict([.transferEncoding: "chunked", .contentLength: "3"]) == .refuse(.badRequest))
        #expect(verdict([.contentLength: "3", .contentLength: "3"]) == .refuse(.badRequest))
        for length in ["03", "-3", "+3", "3 3", "0x3", ""] {
            #expect(verdict([.contentLength: length]) == .refuse(.badRequest), "\(length)")
        }
        for method in [HTTPRequest.Method.get, .head] {
            #expect(verdict([.contentLength: "3"], method: method) == .refuse(.badRequest))
            #expect(verdict([:], method: method) == .accept(bodyLength: 0))
        }
    }
}
