import HTTPTypes
import Memory

/// A whole response as bytes, for the cases in which the HTTP library cannot send it: the library knows no request to
/// answer.
enum RefusalText {
    /// Status line, fields and body; the connection closes after it.
    static func bytes(of response: HTTPResponse, at secondsSince1970: Int) -> [UInt8] {
        var head = "HTTP/1.1 \(response.status.code) \(reason(response.status))\r\n"
        head += "Date: \(HTTPDate(secondsSince1970: secondsSince1970).imfFixdate)\r\nConnection: close\r\n"
        for field in response.headerFields where !isFraming(field.name) && RequestRules.isFieldValue(field.value.utf8) {
            head += "\(field.name.rawName): \(field.value)\r\n"
        }
        head += "Content-Length: \(response.body.count)\r\n\r\n"
        switch response.body {
        case .empty: return Array(head.utf8)
        case .text(let text): return Array((head + text).utf8)
        case .shared(let bytes): return Array(head.utf8) + bytes.array
        }
    }

    private static func isFraming(_ name: HTTPField.Name) -> Bool {
        [.date, .connection, .contentLength, .transferEncoding].contains(name)
    }

    private static func reason(_ status: HTTPResponse.Status) -> String {
        switch status {
        case .badRequest: "Bad Request"
        case .requestTimeout: "Request Timeout"
        case .requestHeaderFieldsTooLarge: "Request Header Fields Too Large"
        default: "Refused"
        }
    }
}
