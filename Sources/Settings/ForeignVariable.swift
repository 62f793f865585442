package import Telemetry

/// One of another service's environment variables, and what it means here.
package struct ForeignVariable: Equatable, Sendable {
    /// The meaning of a variable.
    enum Meaning: Equatable, Sendable {
        /// It counts, in place of these settings; if there are none, it has no other spelling.
        case counts([String])
        /// It concerns the other service's own workings, or asks for behavior that the service has in any case.
        case harmless
        /// The service did something by it that Alula does not.
        case lost
    }

    let name: String
    /// The meaning of the variable.
    let meaning: Meaning

    /// Tells operators which of the variables mean nothing here: one line, in which lost settings stand apart.
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

    /// A table of variables for people: what each one means, one line each.
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
