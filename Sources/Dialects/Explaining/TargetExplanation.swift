package import JSON

package struct TargetExplanation: Sendable {
    package enum Verdict: Sendable, Equatable {
        case works
        /// The service ignores some of the target's options.
        case ignores
        /// The service rejects the target; `parameter` is the invalid one.
        case rejected(code: String, reason: String, parameter: String?)
    }

    package var verdict: Verdict
    package var dialect: String?
    package var source: String?
    package var parameters: [(name: String, value: String)] = []
    package var unexpressedSteps: [String] = []
    package var steps: [String] = []
    package var response: [String] = []
    package var assumedSource: String?
    package var ignored: [String] = []

    package init(_ verdict: Verdict, dialect: String? = nil) {
        self.verdict = verdict
        self.dialect = dialect
    }

    package static let verdictNames = ["works", "ignores", "refused"]

    package var verdictName: String {
        switch verdict {
        case .works: "works"
        case .ignores: "ignores"
        case .rejected: "refused"
        }
    }

    package var json: JSONValue { .object(members) }

    package var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("verdict", .string(verdictName))]
        if let dialect { members.append(("dialect", .string(dialect))) }
        if case .rejected(let code, let reason, let parameter) = verdict {
            members += [("code", .string(code)), ("reason", .string(reason))]
            if let parameter { members.append(("parameter", .string(parameter))) }
        }
        if let source { members.append(("source", .string(source))) }
        if let assumedSource {
            members += [
                ("assumedSource", .string(assumedSource)),
                ("parameters", .object(parameters.map { ($0.name, .string($0.value)) })),
                ("besides", .array(unexpressedSteps.map { .string($0) })), ("steps", .array(steps.map { .string($0) })),
            ]
        }
        if !response.isEmpty { members.append(("answer", .array(response.map { .string($0) }))) }
        members.append(("ignored", .array(ignored.map { .string($0) })))
        return members
    }

    package var isRejected: Bool { if case .rejected = verdict { true } else { false } }

    package var cause: String? {
        guard case .rejected(let code, let reason, let parameter) = verdict else { return nil }
        return [code, parameter].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ") + ": " + reason
    }

    package var lines: [String] {
        var lines: [String] = []
        func add(_ name: String, _ values: [String]) {
            for (index, value) in values.enumerated() {
                let label = index == 0 ? name : ""
                lines.append(label + String(repeating: " ", count: 12 - label.count) + value)
            }
        }
        add("verdict", [verdictName])
        if let cause { add("because", [cause]) }
        add("dialect", [dialect ?? "none"])
        if let source { add("source", [source]) }
        if let assumedSource {
            add("for", [assumedSource])
            add("means", parameters.map { "\($0.name)=\($0.value)" })
            add("besides", unexpressedSteps)
            add("steps", steps)
        }
        add("answer", response)
        add("ignored", ignored)
        return lines
    }
}
