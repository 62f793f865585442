import CVips
import CVipsShim

/// An operation of libvips that failed.
///
/// All threads share libvips' error buffer. If several threads work, `text` may be about another thread's image: use it for logs only.
/// The operation that threw tells what failed.
struct VipsError: Error {
    let text: String

    /// Empties libvips' error buffer, so that after a failure it has no older errors.
    static func forget() { CVipsShim_forget_errors() }

    /// Takes the text out of libvips' error buffer.
    static func last() -> VipsError {
        let note = unsafe String(cString: CVipsShim_note())
        var text = note
        if let buffer = unsafe vips_error_buffer_copy() {
            defer { unsafe g_free(buffer) }
            let lines = unsafe String(cString: buffer).split(whereSeparator: \.isNewline).map(String.init)
            text = (lines + (note.isEmpty ? [] : [note])).joined(separator: "; ")
        }
        forget()
        return VipsError(text: text.isEmpty ? "libvips gives no reason" : text)
    }
}
