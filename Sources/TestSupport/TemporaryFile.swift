import Glibc

/// A file that ends with its owner.
package final class TemporaryFile: Sendable {
    /// Where it is.
    package let path: String

    /// A new file that holds `text`.
    package init(_ text: String) {
        var template = Array("/tmp/alula-test-XXXXXX".utf8CString)
        let descriptor = unsafe mkstemp(&template)
        precondition(descriptor >= 0, "no temporary file: error \(errno)")
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let bytes = Array(text.utf8)
        let count = unsafe write(descriptor, bytes, bytes.count)
        precondition(count == bytes.count, "a temporary file takes no bytes")
        close(descriptor)
    }

    deinit {
        unsafe unlink(path)
    }
}
