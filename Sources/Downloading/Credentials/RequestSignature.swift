import Crypto
import HTTPTypes
import Text

/// AWS Signature Version 4 for S3.
///
/// libcurl signs, too, but version 7 orders fields wrongly, and version 8 reads an escaped plus in a query as a space.
struct RequestSignature {
    let key: OriginCredentials.AccessKey
    let region: String

    /// Returns the field lines to add to `lines`; signs all of `lines`.
    func lines(signing lines: [String], method: String, url: SourceURL, at date: HTTPDate) -> [String] {
        let time = date.basicISO8601
        let day = String(time.prefix(8))
        let signedFields = ["\(HTTPField.Name.xAmzDate): \(time)"]
        let fields = (lines + signedFields + ["Host: \(url.authority)"]).compactMap { SignedField(line: $0) }
            .sorted { $0.name < $1.name }
        let names = fields.map(\.name).joined(separator: ";")
        let digest = fields.first { $0.name == HTTPField.Name.xAmzContentSHA256.rawName }?.value ?? ""
        let request = [
            method, url.path, query(of: url), fields.map { "\($0.name):\($0.value)\n" }.joined(), names, digest,
        ].joined(separator: "\n")
        let scope = [day, region, "s3", "aws4_request"]
        let text = [
            "AWS4-HMAC-SHA256", time, scope.joined(separator: "/"), SHA256.hash(request).hexadecimal,
        ].joined(separator: "\n")
        var code = Array("AWS4\(key.secret.text)".utf8)
        for message in scope + [text] { code = HMAC.authenticationCode(for: message.utf8, key: code) }
        let credential = ([key.id] + scope).joined(separator: "/")
        let signature = Hexadecimal.encode(code)
        return signedFields + [
            "\(HTTPField.Name.authorization): AWS4-HMAC-SHA256 "
                + "Credential=\(credential), SignedHeaders=\(names), Signature=\(signature)"
        ]
    }

    /// The query in canonical form: a redirect within the store may spell it differently.
    private func query(of url: SourceURL) -> String {
        guard let query = url.query else { return "" }
        return (try? SignedReference.query(query)) ?? String(query)
    }
}

private struct SignedField {
    let name: String
    let value: String

    /// - Parameter line: In libcurl's form: `name: value`, `name;` for an empty value, `name:` to omit the field.
    init?(line: String) {
        if line.utf8.last == UInt8(ascii: ":") { return nil }
        let name = line.prefix(before: UInt8(ascii: ":"), UInt8(ascii: ";"))
        self.name = name.asciiLowercased
        value = line.dropFirst(name.count + 1).split(separator: " ").joined(separator: " ")
    }
}
