import Crypto
package import HTTPTypes
package import Memory

/// Signs requests with a body: HMAC-SHA256 over the method, the raw target and the SHA-256 of the body, a line each.
package enum BodySignature {
    /// The value of `Alula-Signature`.
    package static func sign(method: HTTPRequest.Method, target: String, body: SharedBytes, key: [UInt8]) -> String {
        Base64URL.encode(HMAC.authenticationCode(for: message(method, target, body), key: key))
    }

    /// Whether a request has exactly one signature that could be one; judged before the body is read.
    static func isStated(in fields: HTTPFields) -> Bool {
        let values = fields.values(of: .alulaSignature)
        return values.count == 1 && Base64URL.decode(values[0])?.count == URLSigner.codeLength
    }

    /// Whether the request is signed with one of `keys`; all are tried, in constant time.
    static func verify(_ request: HTTPRequest, keys: [[UInt8]]) -> Bool {
        guard isStated(in: request.headerFields),
            let given = request.headerFields[.alulaSignature].flatMap({ Base64URL.decode($0) })
        else { return false }
        let message = message(request.method, request.target, request.body ?? SharedBytes([UInt8]()))
        var isValid = false
        for key in keys {
            let isMatch = HMAC.isEqual(HMAC.authenticationCode(for: message, key: key), given)
            isValid = isMatch || isValid
        }
        return isValid
    }

    private static func message(_ method: HTTPRequest.Method, _ target: String, _ body: SharedBytes) -> [UInt8] {
        let digest = body.withBytes { SHA256.hash($0) }.hexadecimal
        return Array("\(method.rawValue)\n\(target)\n\(digest)".utf8)
    }
}
