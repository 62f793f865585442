import Dialects
import JSON
import Text
import ThumbnailAPI

struct ListedURL {
    /// The number of the line, from 1.
    let line: Int
    let url: String
    let explanation: TargetExplanation

    var text: String {
        let ignored = explanation.ignored.isEmpty ? nil : "ignores " + explanation.ignored.joined(separator: ", ")
        return "line \(line): \(explanation.cause ?? ignored ?? explanation.verdictName)  \(url)"
    }

    var json: JSONValue { .object([("line", .int(line)), ("url", .string(url))] + explanation.members) }
}

struct ExplanationSummary {
    private var verdicts: [ExactText: Int] = [:]
    private var ignored: [ExactText: (count: Int, example: String)] = [:]
    private var rejected: [ExactText: (count: Int, example: String)] = [:]

    var rejectedCount: Int { verdicts["refused"] ?? 0 }

    mutating func add(_ listed: ListedURL) {
        let explanation = listed.explanation
        let location = "line \(listed.line): \(listed.url)"
        verdicts[ExactText(explanation.verdictName), default: 0] += 1
        for option in Set(explanation.ignored.map { String($0.prefix { ![":", "=", "("].contains($0) }) }) {
            ignored[ExactText(option), default: (0, location)].count += 1
        }
        if case .rejected(let code, let reason, let parameter) = explanation.verdict {
            let subject = parameter.flatMap { $0.isEmpty ? nil : "\(code) \($0)" } ?? code
            rejected[ExactText("\(subject): \(reason)"), default: (0, location)].count += 1
        }
    }

    var lines: [String] {
        let total = verdicts.values.reduce(0, +)
        var lines = [total == 1 ? "1 URL" : "\(total) URLs"]
        for word in TargetExplanation.verdictNames {
            lines.append(Self.line(word, count: verdicts[ExactText(word)] ?? 0))
        }
        func section(_ title: String, _ entries: [(String, Int)]) {
            guard !entries.isEmpty else { return }
            lines.append("\(title):")
            lines += entries.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map { Self.line($0.0, count: $0.1) }
        }
        section("ignored options", ignored.map { ("\($0.key): \($0.value.example)", $0.value.count) })
        section("refused because of", rejected.map { ("\($0.key) \($0.value.example)", $0.value.count) })
        return lines
    }

    private static func line(_ text: String, count: Int) -> String {
        let number = String(count)
        return String(repeating: " ", count: max(0, 8 - number.count)) + number + "  " + text
    }
}
