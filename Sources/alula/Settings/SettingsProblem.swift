/// One reason why the settings cannot be used.
struct SettingsProblem: Error, Equatable {
    /// The member of the settings file that is wrong, such as `origins.photos.tls`; nil if the fault is elsewhere.
    let path: String?
    /// The line that stops the start.
    let line: String
    /// Whether the member's name is wrong, and not its value.
    var isAboutName = false

    /// A fault outside of the settings file, or in no place of it.
    init(_ line: String) {
        self.init(path: nil, line: line)
    }

    /// A fault of a member of the settings file.
    init(path: String?, line: String, isAboutName: Bool = false) {
        self.path = path
        self.line = line
        self.isAboutName = isAboutName
    }

    /// A member of the settings file that has a value or a name that is not allowed.
    init(_ path: String, allowed: String, isAboutName: Bool = false) {
        self.init(path: path, line: "\(path) in the settings file: allowed is \(allowed)", isAboutName: isAboutName)
    }
}
