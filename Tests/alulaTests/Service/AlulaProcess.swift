import Foundation

/// The built executable in a process of its own, its standard output and error read as one text.
final class AlulaProcess {
    private let process = Process()
    private let output = Pipe()

    /// A process that is not started yet; with a limit, options of `ulimit`, it is granted no more than that.
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

    /// Starts the process; what it printed up to and with `marker`, or up to its end.
    func start(until marker: String) throws -> String {
        try process.run()
        var text = ""
        while !text.contains(marker) {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        return text
    }

    /// Waits for the process to end by itself; its exit status, nil when a signal ended it.
    func end() -> Int32? {
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }

    /// Sends SIGTERM and waits; the exit status, nil when a signal ended the process.
    func terminate() -> Int32? {
        process.terminate()
        return end()
    }
}
