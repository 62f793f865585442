import CVips

/// A step of libvips that failed.
///
/// The library's error buffer is one for all threads, so `text` may belong to somebody else's image: it is good for logs and
/// for nothing else. What failed is known from which step threw.
struct VipsError: Error {
    let text: String

    /// Takes what libvips wrote last, and empties its buffer.
    static func last() -> VipsError {
        guard let buffer = unsafe vips_error_buffer_copy() else { return VipsError(text: "") }
        defer { unsafe g_free(buffer) }
        let text = unsafe String(cString: buffer)
        return VipsError(text: text.split(whereSeparator: \.isNewline).joined(separator: "; "))
    }
}
