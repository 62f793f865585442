@testable import Settings

/// A container of another service that Alula replaces, with its environment.
struct ForeignContainer {
    let service: String
    /// Variables that tests may override.
    var base: [String: String] = [:]

    /// The settings in this environment.
    func callAsFunction(
        _ environment: [String: String], _ arguments: [String] = []
    ) throws(SettingsLoader.Failure) -> Settings {
        try SettingsLoader.load(
            arguments: ["--environment-of", service] + arguments, environment: base.merging(environment) { $1 }
        ) { _ in "{}" }
    }

    /// The configuration errors in this environment.
    func problems(_ environment: [String: String], _ arguments: [String] = []) -> [String] {
        do throws(SettingsLoader.Failure) {
            _ = try self(environment, arguments)
            return []
        } catch {
            return error.lines
        }
    }
}
