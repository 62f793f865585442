package import Telemetry

/// An environment variable of another service, and its meaning here.
package struct ForeignVariable: Equatable, Sendable {
    enum Meaning: Equatable, Sendable {
        /// It replaces these settings; if there are none, it has no other spelling.
        case counts([String])
        /// It concerns the other service's internals, or requests behavior that the service always has.
        case harmless
        /// The other service has a feature that Alula lacks.
        case lost
    }

    let name: String
    let meaning: Meaning

    /// Logs which of the variables have no effect: one line that separates lost settings from harmless ones.
    package static func report(_ variables: [ForeignVariable], to logger: Logger) {
        func names(_ meaning: Meaning) -> String {
            variables.filter { $0.meaning == meaning }.map(\.name).joined(separator: ",")
        }
        let (lost, harmless) = (names(.lost), names(.harmless))
        if !lost.isEmpty {
            logger.warning(
                "environment variables that mean nothing here: what they did is lost",
                ["lost": .string(lost), "harmless": .string(harmless)])
        } else if !harmless.isEmpty {
            logger.info(
                "environment variables that mean nothing here: nothing is lost", ["harmless": .string(harmless)])
        }
    }

    package static func lines(_ variables: [ForeignVariable]) -> [String] {
        let widest = variables.map(\.name.utf8.count).max() ?? 0
        return variables.map { variable in
            let padding = String(repeating: " ", count: widest - variable.name.utf8.count)
            let words =
                switch variable.meaning {
                case .counts([]): "counts; it has no setting of its own"
                case .counts(let settings): settings.joined(separator: ", ")
                case .harmless: "nothing; harmless here"
                case .lost: "nothing; you lose what it did"
                }
            return "\(variable.name)\(padding)  → \(words)"
        }
    }
}
