import HTTPTypes
import Testing

@testable import HTTPServing

struct RequestRulesTests {
    private static func isAcceptable(
        _ method: String = "GET", _ target: String = "/", _ fields: HTTPFields = [.host: "a"], isVersion10: Bool = false
    ) -> Bool {
        let request = HTTPRequest(
            method: HTTPRequest.Method(rawValue: method), target: target, headerFields: fields)
        let decision = RequestRules.decision(on: request, isVersion10: isVersion10, maximumBodyLength: 0)
        return decision == .accept(bodyLength: 0)
    }

    @Test(arguments: ["/", "/a?b", "//", "/a#b", "/\u{e4}"])
    func `targets in origin form are accepted`(target: String) {
        #expect(Self.isAcceptable("GET", target))
    }

    @Test(arguments: ["", "a", "?", "http://a/", "a:443", "*"])
    func `targets in other forms are rejected`(target: String) {
        #expect(!Self.isAcceptable("GET", target))
    }

    @Test func `an asterisk is accepted for OPTIONS only`() {
        #expect(Self.isAcceptable("OPTIONS", "*"))
    }

    @Test(arguments: ["", "a", "a.b:80", "127.0.0.1", "[::1]:8080", "a_b", "xn--a", "a%20b"])
    func `Host may have the form of an authority, or be empty`(host: String) {
        #expect(Self.isAcceptable("GET", "/", [.host: host]))
    }

    @Test(arguments: ["a b", "a/b", "a@b", "a?b", "a#b", "a\\b", "a<", "\u{e4}"])
    func `Host with any other character is rejected`(host: String) {
        #expect(!Self.isAcceptable("GET", "/", [.host: host]))
    }

    @Test func `exactly one Host is required, and none by HTTP 1.0`() {
        #expect(!Self.isAcceptable("GET", "/", [:]))
        #expect(Self.isAcceptable("GET", "/", [:], isVersion10: true))
        #expect(!Self.isAcceptable("GET", "/", [.host: "a", .host: "a"]))
        #expect(!Self.isAcceptable("GET", "/", [.host: "a", .host: "a"], isVersion10: true))
    }

    @Test(arguments: ["GET", "HEAD", "POST", "DELETE"])
    func `a route without bodies accepts only an empty one`(method: String) {
        #expect(Self.isAcceptable(method, "/", [.host: "a", .contentLength: "0"]))
        for length in ["1", "00", "-0", "+0", "0x0", "", "0,0", " "] {
            #expect(!Self.isAcceptable(method, "/", [.host: "a", .contentLength: length]), "\(length)")
        }
        #expect(!Self.isAcceptable(method, "/", [.host: "a", .contentLength: "0", .contentLength: "0"]))
        for coding in ["chunked", "identity", "gzip", ""] {
            #expect(!Self.isAcceptable(method, "/", [.host: "a", .transferEncoding: coding]), "\(coding)")
        }
    }

    @Test func `targets have no space and no control character, field values no control character but the tab`() {
        for byte in UInt8.min...UInt8.max {
            #expect(RequestRules.isTarget([byte]) == (byte > 0x20 && byte != 0x7f))
            #expect(RequestRules.isFieldValue([byte]) == (byte == 0x09 || (byte >= 0x20 && byte != 0x7f)))
        }
    }

    @Test func `a route with bodies detects them by their length or chunks, and limits the length`() {
        func decision(
            _ fields: HTTPFields, method: HTTPRequest.Method = .post, isVersion10: Bool = false
        ) -> RequestRules.Decision {
            let request = HTTPRequest(
                method: method, target: "/", headerFields: HTTPFields([HTTPField(name: .host, value: "a")] + fields))
            return RequestRules.decision(on: request, isVersion10: isVersion10, maximumBodyLength: 100)
        }
        #expect(decision([.contentLength: "0"]) == .accept(bodyLength: 0))
        #expect(decision([.contentLength: "100"]) == .accept(bodyLength: 100))
        #expect(decision([.contentLength: "101"]) == .reject(.bodyTooLarge))
        #expect(decision([.contentLength: "99999999999999999999999"]) == .reject(.bodyTooLarge))
        #expect(decision([:]) == .accept(bodyLength: 0))
        #expect(decision([.transferEncoding: "chunked"]) == .acceptChunks)
        #expect(decision([.transferEncoding: "Chunked"]) == .acceptChunks)
        for coding in ["gzip", "gzip, chunked", "chunked, chunked", "identity", ""] {
            #expect(decision([.transferEncoding: coding]) == .reject(.badRequest), "\(coding)")
        }
        #expect(decision([.transferEncoding: "chunked", .transferEncoding: "chunked"]) == .reject(.badRequest))
        #expect(decision([.transferEncoding: "chunked"], isVersion10: true) == .reject(.badRequest))
        #expect(decision([.transferEncoding: "chunked", .contentLength: "3"]) == .reject(.badRequest))
        #expect(decision([.contentLength: "3", .contentLength: "3"]) == .reject(.badRequest))
        for length in ["03", "-3", "+3", "3 3", "0x3", ""] {
            #expect(decision([.contentLength: length]) == .reject(.badRequest), "\(length)")
        }
        for method in [HTTPRequest.Method.get, .head] {
            #expect(decision([.contentLength: "3"], method: method) == .reject(.badRequest))
            #expect(decision([:], method: method) == .accept(bodyLength: 0))
        }
    }
}
