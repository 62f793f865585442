import HTTPTypes

/// What RFC 9112 and the contract demand of a request head, beyond what the HTTP library checks.
enum RequestRules {
    /// Whether a target's bytes may stand in a request line: no space, no control character.
    static func isPrintable(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }

    /// Whether a field value's bytes are free of control characters other than the tab (RFC 9110 section 5.5).
    static func isFieldValue(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }

    /// Whether a well-formed head is one that we serve.
    ///
    /// - Parameters:
    ///   - request: Method, target and fields; names are tokens and values free of control characters already.
    ///   - isVersion10: HTTP/1.0 may do without `Host` (RFC 9112 section 3.2).
    static func isAcceptable(_ request: HTTPRequest, isVersion10: Bool) -> Bool {
        guard hasAcceptableTarget(request) else { return false }
        var hosts = 0
        var lengths = 0
        var isAcceptable = true
        request.headerFields.forEach { field in
            // The lengths tell nearly all other names apart without a comparison of text.
            switch field.name.rawName.utf8.count {
            case 4 where field.name == .host:
                hosts += 1
                if !isHost(field.value) { isAcceptable = false }
            case 14 where field.name == .contentLength:
                lengths += 1
                // No body is read yet; "0" announces none.
                if field.value != "0" { isAcceptable = false }
            case 17 where field.name == .transferEncoding: isAcceptable = false
            default: break
            }
        }
        return isAcceptable && lengths <= 1 && (hosts == 1 || (hosts == 0 && isVersion10))
    }

    /// Origin form, or the asterisk of OPTIONS (RFC 9112 section 3.2).
    private static func hasAcceptableTarget(_ request: HTTPRequest) -> Bool {
        if request.target.utf8.first == UInt8(ascii: "/") { return true }
        return request.target == "*" && request.method.rawValue == "OPTIONS"
    }

    /// The characters of `uri-host [":" port]` (RFC 9110 section 7.2); an empty value is allowed.
    private static func isHost(_ value: String) -> Bool {
        value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: ":"):
                true
            case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
                UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "["),
                UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                true
            default: false
            }
        }
    }
}
