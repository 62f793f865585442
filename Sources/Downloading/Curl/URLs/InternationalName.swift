import CIdn2

/// Converts non-ASCII host names to the form used by name servers (RFC 5891 section 5).
enum InternationalName {
    /// Converts like libcurl, but independently of the locale and without its leak (7.88); nil if the name is invalid.
    static func ascii(_ name: String) -> String? {
        convert(name, flags: IDN2_NFC_INPUT) ?? convert(name, flags: IDN2_TRANSITIONAL)
    }

    private static func convert(_ name: String, flags: idn2_flags) -> String? {
        var text: UnsafeMutablePointer<UInt8>?
        let status = unsafe idn2_lookup_u8(Array(name.utf8) + [0], &text, CInt(flags.rawValue))
        guard status == CInt(IDN2_OK.rawValue), let text = unsafe text else { return nil }
        defer { unsafe idn2_free(text) }
        return unsafe String(cString: text)
    }
}
