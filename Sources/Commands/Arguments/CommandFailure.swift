import Coordination
import Glibc
import Program
import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

struct CommandFailure: Error, Equatable {
    /// A machine-readable code, from the service or the file system.
    let code: String
    /// The reason in one line, without a final period.
    let reason: String
    /// The subject of the failure, if it is not the source.
    var subject: String?
    var isWorthRetrying = false
    /// Whether the command stops instead of trying other sources.
    var isFatal = false

    init(code: String, reason: String) {
        self.code = code
        self.reason = Program.line(reason)
    }

    init(system error: CInt) {
        let text = unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
        self.init(code: Self.name(of: error), reason: Self.lowered(text))
        isFatal = [ENOSPC, EDQUOT, EROFS].contains(error)
    }

    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case is CancellationError: self.init(code: "cancelled", reason: "stopped")
        case ImagingError.notAnImage: self.init(code: "not_an_image", reason: "not an image")
        case let error as any ServiceError:
            self.init(code: error.code, reason: Self.reason(of: error))
            isWorthRetrying = error.category == .overload && error.code == "overloaded"
        default: self.init(code: "internal", reason: "\(error)")
        }
    }

    /// Returns the reason in one line; for a rejected source only the rule, which public clients do not see.
    private static func reason(of error: any ServiceError) -> String {
        var reason = lowered(error.operatorMessage)
        if reason.hasSuffix(".") { reason.removeLast() }
        if error.operatorMessage != error.publicMessage { return reason }
        if let parameter = error.parameter, parameter != "url" { reason = "--\(parameter): \(reason)" }
        if let detail = error.logDetail { reason += " (\(detail))" }
        return reason
    }

    func about(_ path: String) -> CommandFailure {
        var copy = self
        copy.subject = path
        return copy
    }

    /// Returns the line to print; nil if a signal stopped the command.
    func line(about source: String) -> String? {
        guard code != "cancelled" else { return nil }
        let subject = subject ?? (source == Program.standardInput ? "standard input" : source)
        return "\(subject): \(reason)"
    }

    /// Returns the sentence for use after a colon; a leading number or abbreviation does not change.
    static func lowered(_ sentence: String) -> String {
        let second = sentence.utf8.dropFirst().first ?? 0x20
        guard second.isASCIILowercase || second == 0x20 else { return sentence }
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
