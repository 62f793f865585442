import CIdn2

/// Host names beyond ASCII, in the form that name servers know (RFC 5891 section 5).
enum InternationalName {
    /// The name with its labels in punycode, as libcurl itself would make it; nil if there is none.
    ///
    /// libcurl 7.88 reads such names in the thread's locale and leaks those that it refuses.
    static func ascii(_ name: String) -> String? {
        lookUp(name, IDN2_NFC_INPUT) ?? lookUp(name, IDN2_TRANSITIONAL)
    }

    private static func lookUp(_ name: String, _ flags: idn2_flags) -> String? {
        var text: UnsafeMutablePointer<UInt8>?
        let status = unsafe idn2_lookup_u8(Array(name.utf8) + [0], &text, CInt(flags.rawValue))
        guard status == CInt(IDN2_OK.rawValue), let text = unsafe text else { return nil }
        defer { unsafe idn2_free(text) }
        return unsafe String(cString: text)
    }
}
