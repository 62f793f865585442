package struct SettingsProblem: Error, Equatable {
    let path: String?
    package let line: String
    var isAboutName = false
    /// The position of a syntax error; nil for other problems.
    var position: SettingsFileError.Position?

    init(_ line: String) { self.init(path: nil, line: line) }

    package init(path: String?, line: String, isAboutName: Bool = false) {
        self.path = path
        self.line = line
        self.isAboutName = isAboutName
    }

    init(_ spelling: String, fault: InvalidValue, text: String? = nil, path: String? = nil) {
        let shown = Self.shown(text).map { " \($0)" } ?? ""
        self.init(path: path, line: "\(spelling): invalid value\(shown); expected \(fault.allowed)")
    }

    /// Returns a value for people, except URLs, which may contain a password or a token.
    static func shown(_ text: String?) -> String? {
        text.flatMap { $0.contains("@") || $0.contains("://") ? nil : "\"\($0)\"" }
    }

    /// Creates the problem of an invalid value or name in the settings file.
    init(_ path: String, allowed: String, isAboutName: Bool = false) {
        let unknown = isAboutName ? "no such member; " : ""
        self.init(
            path: path, line: "\(path) in the settings file: \(unknown)expected \(allowed)", isAboutName: isAboutName)
    }
}
