import Crypto
import Text

struct ImgproxyPath {
    let signature: ArraySlice<UInt8>
    /// The path after the signature and its slash.
    let signedPath: [UInt8]

    init?(_ remainder: Substring) {
        let bytes = Array(remainder.utf8.prefix { $0 != UInt8(ascii: "?") })
        let rest = bytes.first == UInt8(ascii: "/") ? bytes.dropFirst() : bytes[...]
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > rest.startIndex else { return nil }
        signature = rest[..<slash]
        signedPath = Self.repaired(rest[(slash + 1)...])
        guard !signedPath.isEmpty else { return nil }
    }

    /// Decodes `%3A` in the options, restores both slashes after the source's scheme, and removes leading slashes.
    private static func repaired(_ path: ArraySlice<UInt8>) -> [UInt8] {
        let start = plainStart(in: path)
        var repaired: [UInt8] = []
        repaired.reserveCapacity(path.count + 1)
        var index = path.startIndex
        let end = start ?? path.endIndex
        while index < end {
            if path[index] == UInt8(ascii: "%"), path[index..<end].starts(with: "%3A".utf8) {
                repaired.append(UInt8(ascii: ":"))
                index += 3
            } else {
                repaired.append(path[index])
                index += 1
            }
        }
        if let start { appendSource(path[start...], to: &repaired) }
        if repaired.first == UInt8(ascii: "/") { repaired.removeFirst() }
        return repaired
    }

    private static func plainStart(in path: ArraySlice<UInt8>) -> Int? {
        let word = Array("plain/".utf8)
        if path.starts(with: word) { return path.startIndex + word.count }
        var rest = path
        while let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
            rest = rest[(slash + 1)...]
            if rest.starts(with: word) { return rest.startIndex + word.count }
        }
        return nil
    }

    private static func appendSource(_ source: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        let scheme = source.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        let rest = source[scheme.endIndex...]
        bytes += scheme
        guard !scheme.isEmpty, rest.starts(with: ":/".utf8), rest.count > 2,
            rest[rest.startIndex + 2] != UInt8(ascii: "/")
        else {
            bytes += rest
            return
        }
        bytes += scheme.elementsEqual("local".utf8) ? ":///".utf8 : "://".utf8
        bytes += rest.dropFirst(2)
    }
}

extension ImgproxyConfiguration {
    var hasKeys: Bool { !keys.isEmpty }

    func isAuthentic(_ signature: ArraySlice<UInt8>, of path: [UInt8]) -> Bool {
        guard hasKeys else { return !signature.contains(UInt8(ascii: ":")) }
        let text = String(decoding: signature, as: UTF8.self)
        return trustedSignatures.contains(ExactText(text)) || signer(of: path, by: signature) != nil
    }

    /// Returns the index of the key that signed the path.
    func signer(of path: [UInt8], by signature: ArraySlice<UInt8>) -> Int? {
        guard let code = Base64URL.decode(String(decoding: signature, as: UTF8.self)) else { return nil }
        return Array(zip(keys, salts)).firstIndex { key, salt in
            let expected = HMAC.authenticationCode(for: salt + [UInt8(ascii: "/")] + path, key: key)
            return HMAC.isEqual(code, Array(expected.prefix(signatureSize)))
        }
    }
}
