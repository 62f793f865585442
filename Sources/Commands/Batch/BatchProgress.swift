import Coordination
import Text

struct BatchProgress {
    private let total: Int
    private let start: Duration
    private(set) var rendered = 0
    private(set) var skipped = 0
    private(set) var failed = 0
    private var nextDrawing: Duration

    init(total: Int, start: Duration) {
        self.total = total
        self.start = start
        nextDrawing = start
    }

    mutating func count(_ outcome: RenditionOutcome) {
        switch outcome.kind {
        case .rendered: rendered += 1
        case .skipped: skipped += 1
        case .failed: failed += 1
        }
    }

    mutating func isDrawingDue(at now: Duration) -> Bool {
        guard now >= nextDrawing || doneCount == total else { return false }
        nextDrawing = now + .milliseconds(100)
        return true
    }

    /// Returns the progress bar, at most `width` characters wide.
    func bar(at now: Duration, width: Int) -> String {
        let worked = rendered + failed
        var figures = " \(doneCount)/\(total)"
        if worked > 0 {
            figures += "  \(Self.text(rate(at: now)))/s"
            if doneCount < total {
                figures += "  \(Self.text(of: Int(Double(total - doneCount) / max(rate(at: now), 1e-6)))) left"
            }
        }
        if failed > 0 { figures += "  \(failed) failed" }
        let length = min(40, width - figures.count - 3)
        guard length >= 4 else { return String(figures.dropFirst().prefix(max(0, width))) }
        let filled = total == 0 ? length : length * doneCount / total
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: length - filled) + "]"
            + figures
    }

    func summary(at now: Duration) -> String {
        var counts = ["\(rendered) rendered"]
        if skipped > 0 { counts.append("\(skipped) skipped") }
        if failed > 0 { counts.append("\(failed) failed") }
        if doneCount < total { counts.append("\(total - doneCount) not tried") }
        let seconds = (now - start).seconds
        return "\(counts.joined(separator: ", ")) in \(Self.text(seconds)) s (\(Self.text(rate(at: now)))/s)"
    }

    private var doneCount: Int { rendered + skipped + failed }

    private func rate(at now: Duration) -> Double { Double(rendered + failed) / max((now - start).seconds, 1e-3) }

    private static func text(_ number: Double) -> String {
        if number >= 100 { return String(Int(number.rounded())) }
        return Int((number * 10).rounded()).decimal(places: 1, minimum: 1)
    }

    /// Formats a time as `12 s`, `3:05` or `1:02:03`.
    private static func text(of seconds: Int) -> String {
        if seconds < 60 { return "\(seconds) s" }
        let end = (seconds % 60).twoDigits
        return seconds < 3_600
            ? "\(seconds / 60):\(end)" : "\(seconds / 3_600):\((seconds / 60 % 60).twoDigits):\(end)"
    }
}
