import Glibc

/// The program as its user sees it: its version, what it prints, and how it ends.
enum Program {
    static let version = "0.1.0"

    /// Prints a text on standard output at once, a pipe too, and exits with status 0.
    static func succeed(_ text: String) -> Never {
        say(text)
        exit(0)
    }

    /// Prints a text on standard output at once, a pipe too.
    static func say(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    /// All of standard input.
    static func input() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(STDIN_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    /// Prints lines on standard error and exits.
    static func fail(_ lines: [String], status: CInt) -> Never {
        write(lines.joined(separator: "\n") + "\n", to: STDERR_FILENO)
        exit(status)
    }

    private static func write(_ text: String, to descriptor: CInt) {
        _ = unsafe Glibc.write(descriptor, text, text.utf8.count)
    }
}
