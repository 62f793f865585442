import Foundation

/// The built executable in a process of its own, with its standard output and error as one text.
final class AlulaProcess {
    private let process = Process()
    private let output = Pipe()

    /// A process that is not started yet.
    ///
    /// `limit` holds options of `ulimit` that lower its limits.
    init(_ arguments: [String], limit: String? = nil) {
        let executable = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "alula")
        if let limit {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", "ulimit \(limit) && exec \"$0\" \"$@\"", executable?.path ?? ""] + arguments
        } else {
            process.executableURL = executable
            process.arguments = arguments
        }
        process.standardError = output
        process.standardOutput = output
    }

    /// Starts the process; returns its output up to and with `marker`, or up to its end.
    func start(until marker: String) throws -> String {
        try process.run()
        return output(until: marker)
    }

    /// The output from here up to and with `marker`, or up to its end.
    func output(until marker: String) -> String {
        var text = ""
        while !text.contains(marker) {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        return text
    }

    /// Waits for the process to end by itself.
    ///
    /// Returns the exit status; nil if a signal ended it.
    func end() -> Int32? {
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }

    /// Sends a signal.
    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Sends SIGTERM and waits.
    ///
    /// Returns the exit status; nil if a signal ended the process.
    func terminate() -> Int32? {
        process.terminate()
        return end()
    }
}
