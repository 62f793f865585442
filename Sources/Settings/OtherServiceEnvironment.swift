import Downloading
import Glibc
package import Telemetry
import Text

package enum OtherServiceEnvironment: String, CaseIterable, Sendable {
    case imgproxy, thumbor, imagor, imaginary

    package struct Reading: Equatable {
        package var variables: [OtherServiceVariable] = []
        package var problems: [String] = []
    }

    func apply(_ environment: [String: String], to settings: inout Settings) -> Reading {
        switch self {
        case .imgproxy: ImgproxyEnvironment.read(environment, into: &settings)
        case .thumbor: ThumborEnvironment.read(environment, into: &settings)
        case .imagor: ImagorEnvironment.read(environment, into: &settings)
        case .imaginary: ImaginaryEnvironment.read(environment, into: &settings)
        }
    }
}

protocol OtherServiceReader: SendableMetatype {
    var settings: Settings { get set }
    var reading: OtherServiceEnvironment.Reading { get set }
    var replacedSettings: [String] { get set }

    /// - Parameter settings: The other service's defaults.
    init(_ settings: Settings, environment: [String: String])

    static var dialectName: ExactText { get }

    static var rows: [OtherServiceRow<Self>] { get }

    /// The variables without which the service is open.
    static var keys: [String] { get }

    static func isSecret(_ name: String) -> Bool

    func row(of name: String) -> String?

    func isHarmless(_ row: String, text: String) -> Bool

    mutating func finish()
}

extension OtherServiceReader {
    static func read(
        _ environment: [String: String], into settings: inout Settings
    ) -> OtherServiceEnvironment.Reading {
        var reader = Self(settings, environment: environment)
        // An empty variable counts as unset, unless it is a key: a service that lost its key must not start open.
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where !text.isEmpty || keys.contains(name) {
            reader.replacedSettings = []
            do throws(InvalidValue) {
                guard let meaning = try reader.apply(name, text: text) else { continue }
                reader.reading.variables.append(OtherServiceVariable(name: name, meaning: meaning))
            } catch {
                let isHidden = isSecret(name) || name.contains("URL")
                reader.reading.problems.append(SettingsProblem(name, fault: error, text: isHidden ? nil : text).line)
            }
        }
        reader.finish()
        settings = reader.settings
        return reader.reading
    }

    private mutating func apply(_ name: String, text: String) throws(InvalidValue) -> OtherServiceVariable.Meaning? {
        guard let name = row(of: name) else { return nil }
        guard let row = Self.rows.first(where: { $0.name == name }) else {
            return isHarmless(name, text: text) ? .ignored : .unsupported
        }
        try row.apply(&self, text)
        for setting in replacedSettings.compactMap(SettingTable.named)
        where settings.chosen[ExactText(setting.name)] == nil {
            settings.record(setting, text: text, from: .environment)
        }
        return .applied(replacedSettings)
    }

    mutating func set(_ name: String, text: String) throws(InvalidValue) {
        replacedSettings.append(name)
        if let setting = SettingTable.named(name) { try settings.set(setting, to: text, from: .environment) }
    }

    /// Adds an origin with one file of a folder; returns the URL of the file.
    mutating func addFile(_ path: String, as name: String) throws(InvalidValue) -> ExactText {
        guard let resolved = Self.resolved(path), let slash = resolved.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            throw InvalidValue(allowed: "the path of a file")
        }
        let folder = resolved[..<slash]
        return addFile(
            String(resolved[resolved.utf8.index(after: slash)...]), as: name,
            at: .folder(path: folder.isEmpty ? "/" : String(folder)))
    }

    mutating func addFile(_ file: String, as name: String, at location: Origin.Location) -> ExactText {
        replacedSettings = ["origins.\(name)"]
        var origin = Origin(name: name, location: location)
        origin.onlyFile = ExactText(file)
        settings.dialects.origins = [origin] + settings.dialects.origins.filter { $0.name != name }
        return ExactText("\(name):\(file)")
    }

    /// Returns the path with symbolic links resolved, because they are not followed when files are read.
    static func resolved(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}

struct OtherServiceRow<Reader: OtherServiceReader>: Sendable {
    typealias Path<Value> = any WritableKeyPath<Reader, Value> & Sendable

    let name: String
    let apply: @Sendable (inout Reader, String) throws(InvalidValue) -> Void

    init(
        _ name: String, replacing settings: [String] = [],
        apply: @escaping @Sendable (inout Reader, String) throws(InvalidValue) -> Void
    ) {
        self.name = name
        self.apply = { (reader, text) throws(InvalidValue) in
            reader.replacedSettings = settings
            try apply(&reader, text)
        }
    }

    init<Value>(
        _ name: String, _ parser: SettingParser<Value>, replacing settings: [String] = [],
        apply: @escaping @Sendable (inout Reader, Value) -> Void
    ) {
        self.init(name, replacing: settings) { (reader, text) throws(InvalidValue) in
            apply(&reader, try parser.parse(text))
        }
    }

    init(_ name: String, _ setting: String, as parser: SettingParser<String?> = .same) {
        self.init(name) { (reader, text) throws(InvalidValue) in
            if let text = try parser.parse(text) { try reader.set(setting, text: text) }
        }
    }

    /// - Parameter bounds: Whether a value limits the dialect's targets, so that other dialects could bypass it.
    init<Value>(
        _ name: String, _ keyPath: Path<Value>, as parser: SettingParser<Value>, replacing settings: [String] = [],
        bounds: @escaping @Sendable (Value) -> Bool = { _ in false }
    ) {
        self.init(name, replacing: settings) { (reader, text) throws(InvalidValue) in
            let value = try parser.parse(text)
            reader[keyPath: keyPath] = value
            if bounds(value) { reader.settings.dialects.bounded.insert(Reader.dialectName) }
        }
    }

    init<Value>(
        _ name: String, _ keyPath: Path<Value?>, as parser: SettingParser<Value>, replacing settings: [String] = []
    ) {
        self.init(name, keyPath, as: parser.map(Optional.some), replacing: settings)
    }

    init(_ name: String, rejected allowed: String) {
        self.init(name) { (_, _) throws(InvalidValue) in throw InvalidValue(allowed: allowed) }
    }
}

extension SettingParser where Value == Bool {
    static var goFlag: Self {
        named(
            [
                "1": true, "t": true, "T": true, "true": true, "TRUE": true, "True": true,
                "0": false, "f": false, "F": false, "false": false, "FALSE": false, "False": false,
            ], allowed: "true or false")
    }
}

extension SettingParser where Value == String? {
    static var same: Self { Self { $0 } }
    static var unlessZero: Self { Self { $0 == "0" ? nil : $0 } }
    static var onOrOff: Self { flag(on: "on", off: "off") }

    static func flag(on: String, off: String? = nil) -> Self { SettingParser<Bool>.goFlag.map { $0 ? on : off } }

    static var path: Self { Self { $0.count > 1 && $0.hasSuffix("/") ? String($0.dropLast()) : $0 } }

    static var avifSpeed: Self { SettingParser<Int>.integer(in: 0...9).map { String(9 - $0) } }
}

package struct OtherServiceVariable: Equatable, Sendable {
    enum Meaning: Equatable, Sendable {
        /// The variable has an effect, and corresponds to these settings, if any.
        case applied([String])
        /// The variable concerns the other service's internals, or behavior that Alula always has.
        case ignored
        case unsupported
    }

    let name: String
    let meaning: Meaning

    /// Logs one line that separates lost settings from harmless ones.
    package static func report(_ variables: [OtherServiceVariable], to logger: Logger) {
        func names(_ meaning: Meaning) -> String {
            variables.filter { $0.meaning == meaning }.map(\.name).joined(separator: ",")
        }
        let lost = names(.unsupported)
        let harmless = names(.ignored)
        if !lost.isEmpty {
            logger.warning(
                "unsupported environment variables have no effect",
                ["lost": .string(lost), "harmless": .string(harmless)])
        } else if !harmless.isEmpty {
            logger.info("environment variables have no effect (harmless)", ["harmless": .string(harmless)])
        }
    }

    package static func lines(_ variables: [OtherServiceVariable]) -> [String] {
        let widest = variables.map(\.name.utf8.count).max() ?? 0
        return variables.map { variable in
            let padding = String(repeating: " ", count: widest - variable.name.utf8.count)
            let words =
                switch variable.meaning {
                case .applied([]): "applied; no setting has this effect"
                case .applied(let settings): settings.joined(separator: ", ")
                case .ignored: "ignored; not needed by Alula"
                case .unsupported: "ignored; not supported"
                }
            return "\(variable.name)\(padding)  → \(words)"
        }
    }
}
