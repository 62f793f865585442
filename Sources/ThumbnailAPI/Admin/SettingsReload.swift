import JSON

package struct SettingsReload: Sendable {
    package struct Failure: Error {
        package let lines: [String]

        package init(lines: [String]) { self.lines = lines }
    }

    let changed: [String]
    let needingRestart: [String]

    package init(changed: [String], needingRestart: [String]) {
        self.changed = changed
        self.needingRestart = needingRestart
    }

    /// The settings that need a restart, as text; nil if all changes are in effect.
    package var restartText: String? {
        needingRestart.isEmpty ? nil : "needs a restart: " + needingRestart.joined(separator: ", ")
    }

    var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("changed", .array(changed.map { .string($0) })),
            ("needsRestart", .array(needingRestart.map { .string($0) })),
        ]
        if let restartText { members.append(("detail", .string(restartText))) }
        return .object(members)
    }
}
