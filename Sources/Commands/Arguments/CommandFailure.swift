import Coordination
import Glibc
import Imaging
import Program
import ThumbnailPipeline
import ThumbnailTypes

/// Why a source gave no result, in words for the person at the terminal.
struct CommandFailure: Error, Equatable {
    /// A word for machines: a code of the service, or one of the file system.
    let code: String
    /// The reason, without a full stop; one line.
    let reason: String
    /// The file that it is about, if that is not the source.
    var subject: String?
    /// Whether the same may work when less is done at the same time.
    var isWorthRetrying = false
    /// Whether it makes no sense to go on with other sources.
    var endsAll = false

    /// A failure of these words.
    init(code: String, _ reason: String) {
        self.code = code
        self.reason = Program.line(reason)
    }

    /// A failure of the file system: the number is the system's error.
    init(system error: CInt) {
        let text = unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
        self.init(code: Self.name(of: error), Self.lowered(text))
        endsAll = [ENOSPC, EDQUOT, EROFS].contains(error)
    }

    /// A failure of the engine.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case is CancellationError: self.init(code: "cancelled", "stopped")
        case ImagingError.notAnImage: self.init(code: "not_an_image", "not an image")
        case let error as any ServiceError:
            self.init(code: error.code, Self.reason(of: error))
            isWorthRetrying = error.category == .overload && error.code == "overloaded"
        default: self.init(code: "internal", "\(error)")
        }
    }

    /// The engine's reason, in one line; for a refused source the rule alone, which strangers are not told.
    private static func reason(of error: any ServiceError) -> String {
        var reason = lowered(error.operatorMessage)
        if reason.hasSuffix(".") { reason.removeLast() }
        if error.operatorMessage != error.publicMessage { return reason }
        if let parameter = error.parameter, parameter != "url" { reason = "--\(parameter): \(reason)" }
        if let detail = error.logDetail { reason += " (\(detail))" }
        return reason
    }

    /// The same failure as one of this file.
    func about(_ path: String) -> CommandFailure {
        var copy = self
        copy.subject = path
        return copy
    }

    /// The failure as a line about a source; nil for one that a signal stopped.
    func line(about source: String) -> String? {
        guard code != "cancelled" else { return nil }
        let subject = subject ?? (source == Program.standardInput ? "standard input" : source)
        return "\(subject): \(reason)"
    }

    /// A sentence that follows a colon; what begins with a number or an abbreviation stays.
    static func lowered(_ sentence: String) -> String {
        let second = sentence.utf8.dropFirst().first ?? 0x20
        guard (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(second) || second == 0x20 else { return sentence }
        return sentence.prefix(1).lowercased() + sentence.dropFirst()
    }

    private static func name(of error: CInt) -> String {
        switch error {
        case ENOENT: "no_such_file"
        case EACCES, EPERM: "permission_denied"
        case ENOSPC, EDQUOT: "disk_full"
        case EEXIST: "exists"
        case EPIPE: "broken_pipe"
        default: "file_error"
        }
    }
}
