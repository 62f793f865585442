import Foundation

/// The built executable as a process, with standard output and error as one text.
final class AlulaProcess {
    private let process = Process()
    private let output = Pipe()

    /// Creates a process without starting it.
    ///
    /// `limit` has options of `ulimit`.
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

    /// Starts the process and returns its output up to and including `marker`, or to its end.
    func start(until marker: String) throws -> String {
        try process.run()
        return output(until: marker)
    }

    /// Further output up to and including `marker`, or to its end.
    func output(until marker: String) -> String {
        var text = ""
        while !text.contains(marker) {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        return text
    }

    /// Waits for the process to exit.
    ///
    /// Returns the exit status; nil if a signal ended the process.
    func end() -> Int32? {
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Sends SIGTERM and waits for the process to exit.
    ///
    /// Returns the exit status; nil if a signal ended the process.
    func terminate() -> Int32? {
        process.terminate()
        return end()
    }
}
