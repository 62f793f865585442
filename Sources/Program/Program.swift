import FoundationEssentials
import Glibc
import Synchronization

package enum Program {
    /// The version of the service and of its commands (Semantic Versioning).
    package static let version = "1.0.0"
    /// With the revision of the source code, for people and for keys of caches.
    package static var build: String { "\(version) (\(revision))" }
    package static let standardInput = "-"

    package static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// Exits with status 0, or 1 if printing fails.
    package static func succeed(_ text: String) -> Never { exit(print(text) ? 0 : 1) }

    /// Unbuffered; false after the reader of a pipe has closed it.
    @discardableResult
    package static func print(_ text: String) -> Bool {
        guard canPrint else { return false }
        if write(text + "\n", to: STDOUT_FILENO) { return true }
        isOutputBroken.store(true, ordering: .relaxed)
        return false
    }

    package static var canPrint: Bool { !isOutputBroken.load(ordering: .relaxed) }

    /// One line, without control characters.
    package static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate: "?"
                    default: scalar
                    }
                }))
    }

    package static func printError(_ line: String) { printToStandardError("alula: " + Self.line(line) + "\n") }

    package static func printToStandardError(_ text: String) { _ = write(text, to: STDERR_FILENO) }

    /// May be ``standardInput``; nil if reading fails.
    package static func input(at path: String) -> [UInt8]? {
        let descriptor = path == standardInput ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += buffer.prefix(count)
        }
    }

    /// The names in a folder, without hidden ones; nil with `errno` if it cannot be read.
    package static func names(in folder: String) -> [String]? {
        guard let stream = unsafe opendir(folder) else { return nil }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.utf8.first != UInt8(ascii: ".") { names.append(name) }
        }
        return names
    }

    package static func fail(_ lines: [String], status: CInt) -> Never {
        _ = write(lines.joined(separator: "\n") + "\n", to: STDERR_FILENO)
        exit(status)
    }

    private static let isOutputBroken = Atomic(false)

    private static func write(_ text: String, to descriptor: CInt) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var written = 0
            while written < bytes.count, let base = bytes.baseAddress {
                let count = unsafe Glibc.write(descriptor, base + written, bytes.count - written)
                if count < 0, errno != EINTR { return false }
                written += max(0, count)
            }
            return true
        }
    }
}

/// Exit statuses, from `sysexits.h` where possible; docs/command-line.md has the table.
package enum ExitStatus {
    /// Or a service rejected a request.
    package static let failed: CInt = 1
    package static let usageError: CInt = 2
    package static let cannotStart: CInt = 69
    package static let wrongSettings: CInt = 78
}
