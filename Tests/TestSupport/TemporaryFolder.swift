import Glibc

/// A folder that is removed with its contents at `deinit`.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        var template = Array("/tmp/alula-test-XXXXXX".utf8CString)
        precondition(unsafe mkdtemp(&template) != nil, "no temporary folder: error \(errno)")
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        remove(path, depth: 0)
    }

    /// Writes a file and creates its parent folders.
    package func write(_ name: String, _ bytes: [UInt8]) {
        var parent = path
        for segment in name.split(separator: "/").dropLast() {
            parent += "/" + segment
            unsafe mkdir(parent, 0o700)
        }
        let descriptor = unsafe open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
        precondition(descriptor >= 0 && count == bytes.count, "a temporary folder takes no file")
        close(descriptor)
    }

    package func link(_ name: String, to target: String) {
        let status = unsafe symlink(target, "\(path)/\(name)")
        precondition(status == 0, "a temporary folder takes no link")
    }
}

/// Removes a file, a link (not its target), or a folder with its contents.
private func remove(_ path: String, depth: Int) {
    if unsafe unlink(path) == 0 || depth > 16 { return }
    if let stream = unsafe opendir(path) {
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { remove("\(path)/\(name)", depth: depth + 1) }
        }
        unsafe closedir(stream)
    }
    unsafe rmdir(path)
}

/// A file that is removed at `deinit`.
package final class TemporaryFile: Sendable {
    package let path: String

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
