import JSON

package typealias SettingKeyPath<Value> = any WritableKeyPath<Settings, Value> & Sendable

package struct Setting: Sendable {
    let name: String
    let defaultValue: String?
    /// The default for people, or a description if there is none.
    package let defaultText: String
    package let help: String
    let apply: @Sendable (inout Settings, String) throws(InvalidValue) -> Void
    /// Returns the text as it was set, or the number in use if the start lowered it.
    let current: @Sendable (Settings, _ text: String) -> String
    let secrecy: Secrecy
    /// Whether commands that render also accept the setting.
    let isForCommands: Bool
    /// Whether a reload changes the setting; others require a restart.
    let isReloadable: Bool
    private(set) var readObject: ObjectReader?
    /// Copies the setting from other settings.
    private(set) var copy: Copying

    typealias Copying = @Sendable (_ settings: inout Settings, _ new: Settings) -> Void

    typealias ObjectReader =
        @Sendable (_ value: JSONValue, _ environment: [String: String], _ settings: inout Settings) -> [SettingsProblem]

    enum Secrecy {
        case none
        /// A URL or an object that may contain a password.
        case hidden
        /// A key or another secret: never blank; the settings file may contain a reference such as `{ env: "NAME" }`.
        case secret
    }

    /// - Parameter whenUnset: A description for people of the behavior without a value.
    init<Value>(
        _ name: String, _ keyPath: SettingKeyPath<Value>, also others: [SettingKeyPath<Value>] = [],
        as parser: SettingParser<Value>, default value: String? = nil, whenUnset: String = "none", help: String,
        secrecy: Secrecy = .none, forCommands isForCommands: Bool = false, reloads isReloadable: Bool = false
    ) {
        self.name = name
        defaultValue = value
        defaultText = value ?? whenUnset
        self.help = help
        self.secrecy = secrecy
        self.isForCommands = isForCommands
        self.isReloadable = isReloadable
        current = { settings, text in
            guard let number = settings[keyPath: keyPath] as? Int, (try? parser.parse(text)) as? Int != number else {
                return text
            }
            return "\(number)"
        }
        apply = { (settings, text) throws(InvalidValue) in
            if secrecy == .secret { try SecretReferences.checkKey(text) } else { try SecretReferences.checkText(text) }
            let value = try parser.parse(text)
            for keyPath in [keyPath] + others { settings[keyPath: keyPath] = value }
        }
        copy = { settings, new in
            for keyPath in [keyPath] + others { settings[keyPath: keyPath] = new[keyPath: keyPath] }
        }
    }

    init<Value>(
        _ name: String, _ keyPath: SettingKeyPath<Value?>, also others: [SettingKeyPath<Value?>] = [],
        as parser: SettingParser<Value>, default value: String? = nil, whenUnset: String = "none", help: String,
        secrecy: Secrecy = .none, forCommands: Bool = false, reloads: Bool = false
    ) {
        self.init(
            name, keyPath, also: others, as: parser.map(Optional.some), default: value, whenUnset: whenUnset,
            help: help, secrecy: secrecy, forCommands: forCommands, reloads: reloads)
    }

    /// A setting that only the file can have, and that a reload changes.
    static func inFile(
        _ name: String, allowed: String = "an object in the settings file", help: String, secrecy: Secrecy = .none,
        copying copy: @escaping Copying, read: @escaping ObjectReader
    ) -> Setting {
        var setting = Setting(
            name, \.self, as: .init(allowed: allowed) { _ in nil }, help: help, secrecy: secrecy, reloads: true)
        setting.readObject = read
        return setting.copying(copy)
    }

    func copying(_ copy: @escaping Copying) -> Setting {
        var setting = self
        setting.copy = copy
        return setting
    }

    package var flag: String { "--" + words.joined(separator: "-") }

    var environmentName: String { "ALULA_" + words.map { $0.uppercased() }.joined(separator: "_") }

    private var words: [String] {
        var words: [String] = [""]
        var wasCapital = false
        for character in name {
            // Consecutive capitals, such as URL, are one word.
            if character.isUppercase, !wasCapital { words.append("") }
            wasCapital = character.isUppercase
            words[words.count - 1] += character.lowercased()
        }
        return words
    }
}
