import Text
import ThumbnailAPI

/// What becomes of a list of URLs, counted.
struct ExplanationSummary {
    private var verdicts: [ExactText: Int] = [:]
    private var ignored: [ExactText: Int] = [:]
    private var refused: [ExactText: (count: Int, example: String)] = [:]

    /// How many are refused.
    var refusedCount: Int { verdicts["refused"] ?? 0 }

    /// Counts one explanation.
    mutating func add(_ explanation: TargetExplanation, of url: String) {
        verdicts[ExactText(explanation.word), default: 0] += 1
        for option in Set(explanation.ignored.map { String($0.prefix { ![":", "=", "("].contains($0) }) }) {
            ignored[ExactText(option), default: 0] += 1
        }
        if case .refused(let code, let reason, let parameter) = explanation.verdict {
            let cause = parameter.flatMap { $0.isEmpty ? nil : "\(code) \($0)" } ?? code
            refused[ExactText(cause), default: (0, "\(reason) \(url.prefix(100))")].count += 1
        }
    }

    /// The counts as lines for people, the most frequent first.
    var lines: [String] {
        let total = verdicts.values.reduce(0, +)
        var lines = [total == 1 ? "1 URL" : "\(total) URLs"]
        for word in ["works", "ignores", "refused"] { lines.append(Self.line(word, verdicts[ExactText(word)] ?? 0)) }
        func section(_ title: String, _ entries: [(String, Int)]) {
            guard !entries.isEmpty else { return }
            lines.append("\(title):")
            lines += entries.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map { Self.line($0.0, $0.1) }
        }
        section("ignored options", ignored.map { ($0.key.string, $0.value) })
        section("refused because of", refused.map { ("\($0.key): \($0.value.example)", $0.value.count) })
        return lines
    }

    private static func line(_ text: String, _ count: Int) -> String {
        let number = String(count)
        return String(repeating: " ", count: max(0, 8 - number.count)) + number + "  " + text
    }
}
