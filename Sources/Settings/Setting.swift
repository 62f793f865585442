import Dialects

/// A place of the settings.
typealias SettingPlace<Value> = any WritableKeyPath<Settings, Value> & Sendable

/// One setting: its name in three spellings, what it means and how its text becomes a value.
package struct Setting: Sendable {
    /// `maxActiveDownloads`: the spelling in the file.
    let name: String
    /// The value at the start, given like any other; nil if the setting has none until it is given.
    let defaultValue: String?
    /// The default as people read it: the value, or words for there being none.
    package let defaultText: String
    /// One line for `--help`.
    package let help: String
    /// Stores the value of a text.
    let apply: @Sendable (inout Settings, String) throws(InvalidValue) -> Void
    /// Whether the value may be shown.
    let secrecy: Secrecy

    /// Whether errors may repeat a value, and what a secret must be.
    enum Secrecy {
        /// Errors repeat it.
        case none
        /// A URL or an object, which may hold a password.
        case hidden
        /// A key or another secret: never blank, and in the settings file perhaps a form such as `{ env: "NAME" }`.
        case secret
    }

    /// A setting with a value from the start.
    init(
        name: String, default value: String, help: String, secrecy: Secrecy = .none,
        apply: @escaping @Sendable (inout Settings, String) throws(InvalidValue) -> Void
    ) {
        (self.name, defaultValue, defaultText, self.help, self.secrecy) = (name, value, value, help, secrecy)
        self.apply = apply
    }

    /// A setting without a value until it is given; `defaultText` says how the service behaves then.
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

    /// A setting with a value from the start, which is stored at a place of the settings.
    private init<Value>(
        _ name: String, _ place: SettingPlace<Value>, _ value: String, _ help: String,
        _ read: @escaping @Sendable (String) throws(InvalidValue) -> Value
    ) {
        self.init(name: name, default: value, help: help) { (settings, text) throws(InvalidValue) in
            settings[keyPath: place] = try read(text)
        }
    }

    /// A setting whose value is a whole number.
    static func integer(
        _ name: String, _ place: SettingPlace<Int>, in range: ClosedRange<Int>,
        default value: String, help: String
    ) -> Setting {
        Setting(name, place, value, help) { (text) throws(InvalidValue) in try SettingValues.integer(text, in: range) }
    }

    /// A setting whose value is a number of bytes.
    static func byteSize(
        _ name: String, _ place: SettingPlace<Int>, default value: String, help: String
    ) -> Setting { Setting(name, place, value, help, SettingValues.byteSize) }

    /// A setting whose value is a time.
    static func duration(
        _ name: String, _ place: SettingPlace<Duration>, default value: String, help: String
    ) -> Setting { Setting(name, place, value, help, SettingValues.duration) }

    /// The same for a time above zero that is bounded.
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

    /// A setting whose value is a time in whole seconds.
    static func seconds(
        _ name: String, _ place: SettingPlace<Int>, default value: String, help: String
    ) -> Setting { Setting(name, place, value, help, SettingValues.seconds) }

    /// A setting that is on or off.
    static func flag(
        _ name: String, _ place: SettingPlace<Bool>, default value: String, help: String
    ) -> Setting { Setting(name, place, value, help, SettingValues.flag) }

    /// A setting whose value is one of a fixed set of words.
    static func choice<Value: RawRepresentable & CaseIterable & SendableMetatype>(
        _ name: String, _ place: SettingPlace<Value>, default value: String, help: String
    ) -> Setting where Value.RawValue == String { Setting(name, place, value, help, SettingValues.choice) }

    /// A setting that says where a dialect lies, such as at `usual`.
    static func place(
        _ name: String, _ place: SettingPlace<DialectPlace?>, usual: String, help: String
    ) -> Setting {
        Setting(name: name, defaultText: "none", help: help) { (settings, text) throws(InvalidValue) in
            guard let value = DialectPlace(text) else { throw InvalidValue(allowed: "/ or a path such as \(usual)") }
            settings[keyPath: place] = value
        }
    }

    /// The spelling on the command line: `--max-active-downloads`.
    package var flag: String { "--" + words.joined(separator: "-") }

    /// The spelling in the environment: `ALULA_MAX_ACTIVE_DOWNLOADS`.
    var environmentName: String { "ALULA_" + words.map { $0.uppercased() }.joined(separator: "_") }

    private var words: [String] {
        var words: [String] = [""]
        var wasCapital = false
        for character in name {
            // Capitals in a row, such as URL, are one word.
            if character.isUppercase, !wasCapital { words.append("") }
            wasCapital = character.isUppercase
            words[words.count - 1] += character.lowercased()
        }
        return words
    }
}
