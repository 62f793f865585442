import Foundation

/// The built executable in a process of its own, its standard output and error read as one text.
final class AlulaProcess {
    private let process = Process()
    private let output = Pipe()

    /// A process that is not started yet.
    init(_ arguments: [String]) {
        process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "alula")
        process.arguments = arguments
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

    /// Sends SIGTERM and waits; the exit status, nil when a signal ended the process.
    func terminate() -> Int32? {
        process.terminate()
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }
}
