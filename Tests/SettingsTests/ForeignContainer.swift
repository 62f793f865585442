@testable import Settings

/// A container of another service, which this one takes the place of, with its environment.
struct ForeignContainer {
    let service: String
    /// Variables that a test may override.
    var base: [String: String] = [:]

    /// The settings in an environment.
    func callAsFunction(
        _ environment: [String: String], _ arguments: [String] = []
    ) throws(SettingsLoader.Failure) -> Settings {
        try SettingsLoader.load(
            arguments: ["--environment-of", service] + arguments, environment: base.merging(environment) { $1 }
        ) { _ in "{}" }
    }

    /// Why the service does not start in an environment.
    func problems(_ environment: [String: String], _ arguments: [String] = []) -> [String] {
        do throws(SettingsLoader.Failure) {
            _ = try self(environment, arguments)
            return []
        } catch {
            return error.lines
        }
    }
}
