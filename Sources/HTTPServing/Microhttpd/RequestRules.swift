import HTTPTypes
import Text

enum RequestRules {
    static func isTarget(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { $0 != 0x20 && !$0.isASCIIControl }
    }

    /// Whether the bytes contain no control characters except tabs (RFC 9110 section 5.5).
    static func isFieldValue(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { !$0.isASCIIControl || $0 == 0x09 }
    }

    enum Decision: Equatable {
        case accept(bodyLength: Int)
        /// Reads a chunked body (RFC 9112 section 7.1).
        case acceptChunks
        case reject(HTTPRejection)
    }

    /// Requires either a length or chunks; rejects both together, and any other coding.
    ///
    /// - Parameters:
    ///   - request: A request whose names are tokens and whose values contain no control characters.
    ///   - isVersion10: Whether the version is HTTP/1.0, which needs no `Host` (RFC 9112 section 3.2).
    ///   - maximumBodyLength: The limit in bytes; 0 if the route accepts no body. GET and HEAD never have one.
    static func decision(on request: HTTPRequest, isVersion10: Bool, maximumBodyLength: Int) -> Decision {
        guard hasAcceptableTarget(request) else { return .reject(.badRequest) }
        let takesBody = maximumBodyLength > 0 && request.method != .get && request.method != .head
        var hosts = 0
        var lengths: [Int] = []
        var codings = 0
        var isWellFormed = true
        request.headerFields.forEach { field in
            // Compare lengths first, which rules out nearly all other names.
            switch field.name.rawName.utf8.count {
            case 4 where field.name == .host:
                hosts += 1
                if !isHost(field.value) { isWellFormed = false }
            case 14 where field.name == .contentLength:
                if let length = length(field.value), takesBody || length == 0 {
                    lengths.append(length)
                } else {
                    isWellFormed = false
                }
            case 17 where field.name == .transferEncoding:
                codings += 1
                // HTTP/1.0 has no transfer codings (RFC 9112 section 6.1).
                if !takesBody || isVersion10 || field.value.asciiLowercased != "chunked" { isWellFormed = false }
            default: break
            }
        }
        guard isWellFormed, lengths.count + codings <= 1, hosts == 1 || (hosts == 0 && isVersion10) else {
            return .reject(.badRequest)
        }
        guard takesBody else { return .accept(bodyLength: 0) }
        if codings > 0 { return .acceptChunks }
        // Without length and chunks there is no body (RFC 9112 section 6.3).
        let bodyLength = lengths.first ?? 0
        return bodyLength <= maximumBodyLength ? .accept(bodyLength: bodyLength) : .reject(.bodyTooLarge)
    }

    /// Returns the length; rejects leading zeros, which RFC 9110 section 8.6 would allow.
    ///
    /// A number beyond `Int` becomes its maximum, which exceeds every limit.
    private static func length(_ value: String) -> Int? {
        guard let first = value.utf8.first, first != UInt8(ascii: "0") || value.utf8.count == 1,
            value.utf8.allSatisfy(\.isASCIIDigit)
        else { return nil }
        return Int(value) ?? .max
    }

    /// Accepts the origin form, and the asterisk of OPTIONS (RFC 9112 section 3.2).
    private static func hasAcceptableTarget(_ request: HTTPRequest) -> Bool {
        if request.target.utf8.first == UInt8(ascii: "/") { return true }
        return request.target == "*" && request.method.rawValue == "OPTIONS"
    }

    /// Accepts `uri-host [":" port]` (RFC 9110 section 7.2), and the empty value.
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
