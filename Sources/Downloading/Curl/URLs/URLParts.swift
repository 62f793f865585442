import CCurl
import Text

struct URLParts {
    /// The host, unescaped; internationalized labels are in Punycode, IPv6 addresses in brackets.
    let host: String
    let port: Int?
    /// The path without dot segments; at least `/`.
    let path: String
    let query: String?

    init?(_ text: String) {
        guard let handle = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(handle) }
        guard unsafe Self.set(text, in: handle),
            let written = unsafe Self.get(CURLUPART_HOST, of: handle),
            let host = written.hasOnlyBytes({ $0 < 0x80 }) ? written : InternationalName.ascii(written),
            let path = unsafe Self.get(CURLUPART_PATH, of: handle)
        else { return nil }
        if let text = unsafe Self.get(CURLUPART_PORT, of: handle, flags: UInt32(CURLU_NO_DEFAULT_PORT)) {
            guard let number = Int(text), (1...65_535).contains(number) else { return nil }
            port = number
        } else {
            port = nil
        }
        self.host = host
        self.path = path
        query = unsafe Self.get(CURLUPART_QUERY, of: handle)
    }

    /// Resolves `reference` against `base` (RFC 3986 section 5); nil if libcurl rejects it.
    static func resolve(_ reference: String, against base: String) -> String? {
        guard let handle = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(handle) }
        guard unsafe set(base, in: handle), unsafe set(reference, in: handle) else { return nil }
        return unsafe get(CURLUPART_URL, of: handle)
    }

    private static func set(_ text: String, in handle: OpaquePointer) -> Bool {
        let flags = UInt32(CURLU_DISALLOW_USER) | UInt32(CURLU_URLENCODE)
        return unsafe curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK
    }

    private static func get(_ part: CURLUPart, of handle: OpaquePointer, flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text = unsafe text else { return nil }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
}
