package import JSON

/// The meaning of a target, for people who check their URLs before they send them.
package struct TargetExplanation: Sendable {
    /// Whether the service would try to answer the target with an image.
    package enum Verdict: Sendable, Equatable {
        /// The target is read, and everything in it counts.
        case works
        /// The target is read, but some of its options mean nothing here.
        case ignores
        /// The target is refused: the code of the contract, the reason, and the parameter or option that is at fault.
        case refused(code: String, reason: String, parameter: String?)
    }

    /// The answer that the target would get.
    package var verdict: Verdict
    /// The dialect that the target belongs to; nil if it belongs to none.
    package var dialect: String?
    /// The source as the target names it; nil if it was not read.
    package var source: String?
    /// The same in Alula's own parameters, as nearly as they can say it for a source of ``assumedSource``.
    package var parameters: [(name: String, value: String)] = []
    /// The steps that no parameter of Alula's says, in words.
    package var besides: [String] = []
    /// The steps of the plan for such a source, in order, in words.
    package var steps: [String] = []
    /// How the answer differs from the image by itself, in words.
    package var answer: [String] = []
    /// The source that the steps were worked out for, such as `3000x2000 jpeg`.
    package var assumedSource: String?
    /// The options that mean nothing here.
    package var ignored: [String] = []

    /// An explanation with nothing but a verdict.
    package init(_ verdict: Verdict, dialect: String? = nil) {
        self.verdict = verdict
        self.dialect = dialect
    }

    /// The words of all verdicts.
    package static let words = ["works", "ignores", "refused"]

    /// The verdict in one word: `works`, `ignores` or `refused`.
    package var word: String {
        switch verdict {
        case .works: "works"
        case .ignores: "ignores"
        case .refused: "refused"
        }
    }

    /// The explanation as JSON; what is not known is left out.
    package var json: JSONValue { .object(members) }

    /// The members of ``json``, to which others can be added.
    package var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("verdict", .string(word))]
        if let dialect { members.append(("dialect", .string(dialect))) }
        if case .refused(let code, let reason, let parameter) = verdict {
            members += [("code", .string(code)), ("reason", .string(reason))]
            if let parameter { members.append(("parameter", .string(parameter))) }
        }
        if let source { members.append(("source", .string(source))) }
        if let assumedSource {
            members += [
                ("assumedSource", .string(assumedSource)),
                ("parameters", .object(parameters.map { ($0.name, .string($0.value)) })),
                ("besides", .array(besides.map { .string($0) })), ("steps", .array(steps.map { .string($0) })),
            ]
        }
        if !answer.isEmpty { members.append(("answer", .array(answer.map { .string($0) }))) }
        members.append(("ignored", .array(ignored.map { .string($0) })))
        return members
    }

    /// Why the target is refused, with the code and the parameter or option at fault; nil if it is not.
    package var cause: String? {
        guard case .refused(let code, let reason, let parameter) = verdict else { return nil }
        return [code, parameter].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ") + ": " + reason
    }

    /// The explanation as lines for people.
    package var lines: [String] {
        var lines: [String] = []
        func add(_ name: String, _ values: [String]) {
            for (index, value) in values.enumerated() {
                let label = index == 0 ? name : ""
                lines.append(label + String(repeating: " ", count: 12 - label.count) + value)
            }
        }
        add("verdict", [word])
        if let cause { add("because", [cause]) }
        add("dialect", [dialect ?? "none"])
        if let source { add("source", [source]) }
        if let assumedSource {
            add("for", [assumedSource])
            add("means", parameters.map { "\($0.name)=\($0.value)" })
            add("besides", besides)
            add("steps", steps)
        }
        add("answer", answer)
        add("ignored", ignored)
        return lines
    }
}
