import HTTPTypes
import JSON
import Text

enum TemporaryKey {
    /// Maximum bytes of each part of a key.
    private static let maximumPartLength = 16 << 10
    private static let unreadable = KeyFailure(detail: "the response contains no valid key", isPermanent: false)

    static func inJSON(_ body: [UInt8]) throws(KeyFailure) -> OriginCredentials.AccessKey {
        guard let members = (try? JSONReader.value(in: body))?.members else { throw unreadable }
        func text(_ name: String) -> String? { members[ExactText(name)]?.stringValue }
        if members["Code"] != nil, text("Code") != "Success" {
            throw KeyFailure(
                detail: "the service has no key" + (code(text("Code")).map { ", \($0)" } ?? ""), isPermanent: false)
        }
        return try key(
            id: text("AccessKeyId"), secret: text("SecretAccessKey"), token: text("Token"), end: text("Expiration"))
    }

    static func inXML(_ body: [UInt8]) throws(KeyFailure) -> OriginCredentials.AccessKey {
        guard let credentials = content(of: "Credentials", in: body[...]) else { throw unreadable }
        func text(_ name: String) -> String? {
            content(of: name, in: credentials).map { String(decoding: $0, as: UTF8.self) }
        }
        return try key(
            id: text("AccessKeyId"), secret: text("SecretAccessKey"), token: text("SessionToken"),
            end: text("Expiration"))
    }

    static func errorCode(in body: [UInt8]) -> String? {
        code(content(of: "Code", in: body[...]).map { String(decoding: $0, as: UTF8.self) })
    }

    /// Returns the text if it has only characters that are valid in a field and no XML escapes.
    static func word(_ text: String) -> String? {
        fieldValue(text).flatMap { value in
            value.hasOnlyBytes { $0 != 0x20 && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "<") } ? value : nil
        }
    }

    /// Returns the text if it is a valid value of `Authorization`, such as `Basic abc`.
    static func fieldValue(_ text: String) -> String? {
        var value = text[...]
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }
        while let first = value.utf8.first, isSpace(first) { value.removeFirst() }
        while let last = value.utf8.last, isSpace(last) { value.removeLast() }
        let isValid = String(value).hasOnlyBytes(\.isPrintableASCII)
        return isValid && 1...maximumPartLength ~= value.utf8.count ? String(value) : nil
    }

    private static func key(
        id: String?, secret: String?, token: String?, end: String?
    ) throws(KeyFailure) -> OriginCredentials.AccessKey {
        guard let id = id.flatMap(word), let secret = secret.flatMap(word), let token = token.flatMap(word),
            let end = end.flatMap(word).flatMap({ HTTPDate(iso8601: $0) })
        else { throw unreadable }
        return OriginCredentials.AccessKey(
            id: id, secret: Secret(secret), sessionToken: Secret(token), expiresAt: end.secondsSince1970)
    }

    private static func code(_ text: String?) -> String? {
        guard let text = text.flatMap(word), text.utf8.count <= 64,
            text.hasOnlyBytes({ (0x41...0x7A).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return text
    }

    /// Returns the bytes between the first start tag of this name (without attributes) and its end tag.
    private static func content(of name: String, in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let start = text.firstRange(of: Array("<\(name)>".utf8)),
            let end = text[start.upperBound...].firstRange(of: Array("</\(name)>".utf8))
        else { return nil }
        return text[start.upperBound..<end.lowerBound]
    }
}
