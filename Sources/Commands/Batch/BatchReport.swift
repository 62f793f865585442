import Coordination
import Glibc
import JSON
import Memory
import Program
import Recipes

struct BatchReport {
    private var progress: BatchProgress
    private let isJSON: Bool
    private let hasBar: Bool
    private let hasLines: Bool
    private let timekeeper: any Timekeeper

    init(total: Int, isJSON: Bool, timekeeper: any Timekeeper = SystemTimekeeper()) {
        let isOutputTerminal = isatty(STDOUT_FILENO) == 1
        self.isJSON = isJSON
        hasBar = isatty(STDERR_FILENO) == 1 && !(isJSON && isOutputTerminal)
        hasLines = !isJSON && !(hasBar && isOutputTerminal)
        self.timekeeper = timekeeper
        progress = BatchProgress(total: total, start: timekeeper.now)
    }

    var hasNoFailures: Bool { progress.failed == 0 }

    mutating func add(_ outcome: RenditionOutcome) {
        // A source that a signal stopped was not tried.
        if outcome.failure?.code == "cancelled" { return }
        progress.count(outcome)
        let isDue = hasBar && progress.isDrawingDue(at: timekeeper.now)
        if isJSON {
            Program.print(Self.json(outcome).text)
        } else if outcome.isRepeated {
            // Print the source's failure only once.
        } else if let failure = outcome.failure {
            if hasBar { Program.printToStandardError(Self.clearing) }
            if let line = failure.line(about: outcome.sourceText) { Program.printError(line) }
            if hasBar { draw() }
        } else if hasLines, let line = outcome.line {
            Program.print(line)
        }
        if isDue { draw() }
    }

    func draw() {
        guard hasBar else { return }
        Program.printToStandardError(Self.clearing + progress.bar(at: timekeeper.now, width: Self.terminalWidth - 1))
    }

    /// Prints the counts.
    ///
    /// - Parameter hasRecord: Whether another run can continue.
    func end(isComplete: Bool, hasRecord: Bool) {
        if hasBar { Program.printToStandardError(Self.clearing) }
        guard isJSON else {
            let end = isComplete ? "" : hasRecord ? "; stopped: --resume continues" : "; stopped"
            Program.printToStandardError(progress.summary(at: timekeeper.now) + end + "\n")
            return
        }
        Program.print(
            JSONValue.object([
                ("status", .string(isComplete ? "finished" : "stopped")), ("made", .int(progress.rendered)),
                ("skipped", .int(progress.skipped)), ("failed", .int(progress.failed)),
            ]).text)
    }

    static func json(_ outcome: RenditionOutcome) -> JSONValue {
        var members: [(String, JSONValue)] = [("source", .string(outcome.sourceText))]
        if let name = outcome.renditionName { members.append(("rendition", .string(name))) }
        switch outcome.kind {
        case .rendered(let path, let image):
            members += [
                ("status", .string("made")), ("file", .string(path)), ("format", .string(image.format.rawValue)),
                ("width", .int(image.size.width)), ("height", .int(image.size.height)),
                ("bytes", .int(image.bytes.count)),
            ]
        case .skipped(let path, _): members += [("status", .string("skipped")), ("file", .string(path))]
        case .failed(let failure):
            members += [
                ("status", .string("failed")), ("code", .string(failure.code)), ("reason", .string(failure.reason)),
            ]
            if let subject = failure.subject { members.append(("file", .string(subject))) }
        }
        members.append(("milliseconds", .int(Int(outcome.duration.milliseconds))))
        return .object(members)
    }

    /// Moves to the start of the line.
    private static let clearing = "\r\u{1b}[K"

    private static var terminalWidth: Int {
        var size = winsize()
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
