import Glibc
import Text

/// Another service whose environment variables can replace settings.
package enum ForeignEnvironment: String, CaseIterable, Sendable {
    case imgproxy, imagor, imaginary

    package struct Reading: Equatable {
        package var variables: [ForeignVariable] = []
        package var problems: [String] = []
    }

    func apply(_ environment: [String: String], to settings: inout Settings) -> Reading {
        switch self {
        case .imgproxy: ImgproxyEnvironment.read(environment, into: &settings)
        case .imagor: ImagorEnvironment.read(environment, into: &settings)
        case .imaginary: ImaginaryEnvironment.read(environment, into: &settings)
        }
    }
}

/// A reader of another service's environment variables.
protocol ForeignReader {
    var settings: Settings { get set }
    var reading: ForeignEnvironment.Reading { get set }
    /// The settings that the current variable replaces.
    var meant: [String] { get set }

    /// Creates a reader with the service's own defaults.
    init(_ settings: Settings, _ environment: [String: String])

    /// The variables that contain a key without which the service is open.
    static var keys: [String] { get }

    static func isSecret(_ name: String) -> Bool

    /// Applies a variable; returns nil if the service does not have it.
    mutating func meaning(of name: String, _ text: String) throws(InvalidValue) -> ForeignVariable.Meaning?

    /// Applies combinations of variables.
    mutating func finish()
}

extension ForeignReader {
    static func read(
        _ environment: [String: String], into settings: inout Settings
    ) -> ForeignEnvironment.Reading {
        var reader = Self(settings, environment)
        // An empty variable counts as unset, unless it is a key: a service that lost its key must not start open.
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where !text.isEmpty || keys.contains(name) {
            reader.meant = []
            do throws(InvalidValue) {
                guard let meaning = try reader.meaning(of: name, text) else { continue }
                reader.reading.variables.append(ForeignVariable(name: name, meaning: meaning))
            } catch {
                let isHidden = isSecret(name) || name.contains("URL")
                reader.reading.problems.append(SettingsProblem(name, error, text: isHidden ? nil : text).line)
            }
        }
        reader.finish()
        settings = reader.settings
        return reader.reading
    }

    mutating func set(_ name: String, _ text: String) throws(InvalidValue) {
        meant.append(name)
        try SettingTable.named(name)?.apply(&settings, text)
        settings.given.insert(ExactText(name))
    }

    /// The spellings of Go's flags.
    static func flag(_ text: String) throws(InvalidValue) -> Bool {
        switch text {
        case "1", "t", "T", "true", "TRUE", "True": return true
        case "0", "f", "F", "false", "FALSE", "False": return false
        default: throw InvalidValue(allowed: "true or false")
        }
    }

    /// Resolves symbolic links, because none is followed when files are read.
    static func resolved(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}
