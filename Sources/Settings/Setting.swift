import Dialects

/// A property of the settings.
typealias SettingPlace<Value> = any WritableKeyPath<Settings, Value> & Sendable

/// A setting: its name in three spellings, its help, and how its text becomes a value.
package struct Setting: Sendable {
    /// The spelling in the file, such as `maxActiveDownloads`.
    let name: String
    /// The default, parsed like any other value; nil if there is none.
    let defaultValue: String?
    /// The default for people: the value, or a description if there is none.
    package let defaultText: String
    /// One line for `--help`.
    package let help: String
    /// Parses a text and stores its value.
    let apply: @Sendable (inout Settings, String) throws(InvalidValue) -> Void
    let secrecy: Secrecy

    /// Whether errors may show a value, and which values a secret may have.
    enum Secrecy {
        /// Errors show the value.
        case none
        /// A URL or an object, which may contain a password.
        case hidden
        /// A key or another secret: never blank, and in the settings file optionally a reference such as `{ env: "NAME"
        /// }`.
        case secret
    }

    init(
        name: String, default value: String, help: String, secrecy: Secrecy = .none,
        apply: @escaping @Sendable (inout Settings, String) throws(InvalidValue) -> Void
    ) {
        (self.name, defaultValue, defaultText, self.help, self.secrecy) = (name, value, value, help, secrecy)
        self.apply = apply
    }

    /// Creates a setting without a default; `defaultText` describes the behavior without it.
    init(
        name: String, defaultText: String, help: String,
        secrecy: Secrecy = .none, apply: @escaping @Sendable (inout Settings, String) throws(InvalidValue) -> Void
    ) {
        (self.name, defaultValue, self.defaultText, self.help, self.secrecy) = (name, nil, defaultText, help, secrecy)
        self.apply = { (settings, text) throws(InvalidValue) in
            if secrecy == .secret { try SecretForms.judgeKey(text) }
            try apply(&settings, text)
        }
    }

    /// Creates a setting with a default that is stored in a property.
    private init<Value>(
        _ name: String, _ place: SettingPlace<Value>, _ value: String, _ help: String,
        _ read: @escaping @Sendable (String) throws(InvalidValue) -> Value
    ) {
        self.init(name: name, default: value, help: help) { (settings, text) throws(InvalidValue) in
            settings[keyPath: place] = try read(text)
        }
    }

    static func integer(
        _ name: String, _ place: SettingPlace<Int>, in range: ClosedRange<Int>,
        default value: String, help: String
    ) -> Setting {
        Setting(name, place, value, help) { (text) throws(InvalidValue) in try SettingValues.integer(text, in: range) }
    }

    static func byteSize(
        _ name: String, _ place: SettingPlace<Int>, default value: String, help: String
    ) -> Setting { Setting(name, place, value, help, SettingValues.byteSize) }

    static func duration(
        _ name: String, _ place: SettingPlace<Duration>, default value: String, help: String
    ) -> Setting { Setting(name, place, value, help, SettingValues.duration) }

    /// Creates a setting with a duration above zero, up to a limit.
    static func duration(
        _ name: String, _ place: SettingPlace<Duration>, mostSeconds: Int, default value: String, help: String
    ) -> Setting {
        Setting(name, place, value, help) { text throws(InvalidValue) in
            let duration = try SettingValues.duration(text)
            guard duration > .zero, duration <= .seconds(mostSeconds) else {
                throw InvalidValue(allowed: "a duration from 1ms to \(mostSeconds)s")
            }
            return duration
        }
    }

    /// Creates a setting with a duration in whole seconds.
    static func seconds(
        _ name: String, _ place: SettingPlace<Int>, default value: String, help: String
    ) -> Setting { Setting(name, place, value, help, SettingValues.seconds) }

    static func flag(
        _ name: String, _ place: SettingPlace<Bool>, default value: String, help: String
    ) -> Setting { Setting(name, place, value, help, SettingValues.flag) }

    static func choice<Value: RawRepresentable & CaseIterable & SendableMetatype>(
        _ name: String, _ place: SettingPlace<Value>, default value: String, help: String
    ) -> Setting where Value.RawValue == String { Setting(name, place, value, help, SettingValues.choice) }

    /// Creates the path setting of a dialect, whose usual path is `usual`.
    static func place(
        _ name: String, _ place: SettingPlace<DialectPlace?>, usual: String, help: String
    ) -> Setting {
        Setting(name: name, defaultText: "none", help: help) { (settings, text) throws(InvalidValue) in
            guard let value = DialectPlace(text) else { throw InvalidValue(allowed: "/ or a path such as \(usual)") }
            settings[keyPath: place] = value
        }
    }

    /// The spelling on the command line, such as `--max-active-downloads`.
    package var flag: String { "--" + words.joined(separator: "-") }

    /// The spelling in the environment, such as `ALULA_MAX_ACTIVE_DOWNLOADS`.
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
