import FoundationEssentials
import Glibc
import Synchronization

/// The program as its user sees it: its version, what it prints, and how it ends.
package enum Program {
    /// The version of the service and of its commands.
    package static let version = "0.1.0"
    /// The path that means standard input.
    package static let standardInput = "-"

    /// The variables of the environment.
    package static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// Prints a text on standard output at once, a pipe too, and exits with status 0; 1 if it cannot be printed.
    package static func succeed(_ text: String) -> Never {
        exit(say(text) ? 0 : 1)
    }

    /// Prints a text on standard output at once, a pipe too.
    ///
    /// - Returns: Whether that was possible; it never is again after the reader of a pipe has left.
    @discardableResult
    package static func say(_ text: String) -> Bool {
        guard canSay else { return false }
        if write(text + "\n", to: STDOUT_FILENO) { return true }
        isOutputBroken.store(true, ordering: .relaxed)
        return false
    }

    /// Whether standard output still takes texts.
    package static var canSay: Bool { !isOutputBroken.load(ordering: .relaxed) }

    /// A text as it may be shown on a terminal: one line, without characters that do something there.
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

    /// Prints a line about what is wrong on standard error, after the program's name.
    package static func complain(_ line: String) {
        hint("alula: " + Self.line(line) + "\n")
    }

    /// Prints a text on standard error as it is.
    package static func hint(_ text: String) {
        _ = write(text, to: STDERR_FILENO)
    }

    /// All bytes of the file at `path`, which may be ``standardInput``; nil if it cannot be read.
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

    /// Prints lines on standard error and exits.
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

/// The exit statuses of the program, those of `sysexits.h` where it has one; docs/command-line.md has the table.
package enum ExitStatus {
    /// A part of the work failed, or a service that was asked refused.
    package static let failed: CInt = 1
    /// The command line is wrong, or the settings that a command needs are.
    package static let wrongUse: CInt = 2
    /// The service cannot start, or the part of it that a command needs.
    package static let cannotStart: CInt = 69
    /// The settings of the service are wrong.
    package static let wrongSettings: CInt = 78
}
