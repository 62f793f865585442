import CVips
import CVipsShim

/// A step of libvips that failed.
///
/// The library's error buffer is one for all threads, so where several decode in one process `text` may belong to somebody else's
/// image: it is good for logs and for nothing else. What failed is known from which step threw.
struct VipsError: Error {
    let text: String

    /// Empties the library's buffer, so that what is in it after a failure belongs to what was begun since.
    static func forget() { CVipsShim_forget_errors() }

    /// Takes what libvips wrote last, and empties its buffer.
    static func last() -> VipsError {
        let note = unsafe String(cString: CVipsShim_note())
        var text = note
        if let buffer = unsafe vips_error_buffer_copy() {
            defer { unsafe g_free(buffer) }
            let lines = unsafe String(cString: buffer).split(whereSeparator: \.isNewline).map(String.init)
            text = (lines + (note.isEmpty ? [] : [note])).joined(separator: "; ")
        }
        forget()
        return VipsError(text: text.isEmpty ? "libvips does not say why" : text)
    }
}
