import Crypto
import Text

/// The text after the signature, as sent or percent-decoded.
struct ThumborText {
    let bytes: ArraySlice<UInt8>
    /// Whether the text was percent-decoded, so that it may contain any character.
    let isDecoded: Bool

    func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        isDecoded ? URLEscape.decodeAgain(bytes) : URLEscape.decodeText(bytes)
    }
}

/// The path after the dialect's prefix: a signature or `unsafe`, then the rest.
struct ThumborPath {
    let signature: ArraySlice<UInt8>
    let sent: ThumborText

    /// Returns nil if the prefix does not match, or the path has only one segment.
    init?(_ target: String, at prefix: PathPrefix) {
        guard let remainder = prefix.remainder(of: target) else { return nil }
        let path = Array(remainder.utf8.prefix { $0 != UInt8(ascii: "?") })
        let start = path[...].drop { $0 == UInt8(ascii: "/") }
        guard let slash = start.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        signature = start[..<slash]
        sent = ThumborText(bytes: start[(slash + 1)...], isDecoded: false)
    }

    var isUnsafe: Bool { signature.elementsEqual("unsafe".utf8) }

    var decoded: ThumborText? {
        guard sent.bytes.contains(UInt8(ascii: "%")), let text = URLEscape.decodeText(sent.bytes) else { return nil }
        return ThumborText(bytes: Array(text.utf8)[...], isDecoded: true)
    }

    /// The text of an unsigned path: as sent, or decoded if all its filters are percent-encoded, as imagor does.
    var unsignedText: ThumborText {
        guard let decoded, let source = try? ThumborTarget(sent).source,
            source.prefix(Self.encodedFilters.count).elementsEqual(Self.encodedFilters, by: { $0 | 0x20 == $1 | 0x20 })
        else { return sent }
        return decoded
    }

    private static let encodedFilters = Array("filters%3a".utf8)
}

/// Signs paths: base64url, with padding, of an HMAC of the path after the signature.
struct ThumborSigner {
    let key: [UInt8]
    let hash: HMAC.Hash
    let length: Int?

    func signature(of path: some Sequence<UInt8>) -> [UInt8] {
        let code = HMAC.authenticationCode(for: path, key: key, hash: hash)
        var text = Array(Base64URL.encode(code).utf8)
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return length.map { Array(text.prefix($0)) } ?? text
    }

    /// Returns the text that the signature matches: the path as sent, or percent-decoded.
    func verifiedText(of path: ThumborPath) -> ThumborText? {
        guard let received = URLEscape.decodeText(path.signature).map({ Array($0.utf8) }) else { return nil }
        if HMAC.isEqual(received, signature(of: path.sent.bytes)) { return path.sent }
        return path.decoded.flatMap { HMAC.isEqual(received, signature(of: $0.bytes)) ? $0 : nil }
    }
}
