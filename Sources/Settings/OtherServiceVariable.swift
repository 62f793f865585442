package import Telemetry

package struct OtherServiceVariable: Equatable, Sendable {
    enum Meaning: Equatable, Sendable {
        /// If there are no settings, the variable has no other spelling.
        case applied([String])
        /// It concerns the other service's internals, or requests behavior that the service always has.
        case ignored
        /// A feature that Alula lacks.
        case unsupported
    }

    let name: String
    let meaning: Meaning

    /// One line that separates lost settings from harmless ones.
    package static func report(_ variables: [OtherServiceVariable], to logger: Logger) {
        func names(_ meaning: Meaning) -> String {
            variables.filter { $0.meaning == meaning }.map(\.name).joined(separator: ",")
        }
        let (lost, harmless) = (names(.unsupported), names(.ignored))
        if !lost.isEmpty {
            logger.warning(
                "unsupported environment variables have no effect",
                ["lost": .string(lost), "harmless": .string(harmless)])
        } else if !harmless.isEmpty {
            logger.info(
                "environment variables without an effect here", ["harmless": .string(harmless)])
        }
    }

    package static func lines(_ variables: [OtherServiceVariable]) -> [String] {
        let widest = variables.map(\.name.utf8.count).max() ?? 0
        return variables.map { variable in
            let padding = String(repeating: " ", count: widest - variable.name.utf8.count)
            let words =
                switch variable.meaning {
                case .applied([]): "applied; it has no setting of its own"
                case .applied(let settings): settings.joined(separator: ", ")
                case .ignored: "ignored; not needed here"
                case .unsupported: "ignored; not supported"
                }
            return "\(variable.name)\(padding)  → \(words)"
        }
    }
}
