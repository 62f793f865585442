package import JSON
import Telemetry
import Text

/// A setting's value in use and its source, for operators.
package struct EffectiveSetting: Equatable, Sendable {
    package enum Source: String, Sendable { case `default`, file, environment, flag }

    package let name: String
    /// The value, or a placeholder for a secret.
    package let value: String
    package let source: Source
}

extension Settings {
    /// The settings in use, in the order of the table.
    package var effective: [EffectiveSetting] {
        SettingTable.all.map { setting in
            let chosen = chosen[ExactText(setting.name)]
            return EffectiveSetting(
                name: setting.name, value: setting.current(self, chosen?.value ?? setting.defaultText),
                source: chosen?.source ?? .default)
        }
    }

    mutating func record(_ setting: Setting, text: String, shown: String? = nil, from source: EffectiveSetting.Source) {
        chosen[ExactText(setting.name)] = EffectiveSetting(
            name: setting.name, value: setting.secrecy == .secret ? "set" : shown ?? EffectiveSetting.redacted(text),
            source: source)
        texts[ExactText(setting.name)] = text
    }

    mutating func set(_ setting: Setting, to text: String, from source: EffectiveSetting.Source) throws(InvalidValue) {
        try setting.apply(&self, text)
        record(setting, text: text, from: source)
    }
}

extension Settings {
    /// Sets a value on behalf of a flag that stands for several settings, such as `--demo`.
    package mutating func override(_ name: String, with text: String) throws(InvalidValue) {
        if let setting = SettingTable.named(name) { try set(setting, to: text, from: .flag) }
    }
}

extension EffectiveSetting {
    package static func json(_ settings: [EffectiveSetting]) -> JSONValue { .array(settings.map(\.json)) }

    /// Formats the settings as JSON, with a line for each.
    package static func lines(_ settings: [EffectiveSetting]) -> String {
        "{\"settings\": [\n" + settings.map { "  " + $0.json.text }.joined(separator: ",\n") + "\n]}"
    }

    private var json: JSONValue {
        .object([("name", .string(name)), ("value", .string(value)), ("source", .string(source.rawValue))])
    }

    /// Returns a text in which URLs have no user information and query.
    fileprivate static func redacted(_ text: String) -> String {
        guard text.contains("://") else { return text }
        // A password may contain commas.
        let members = text.contains("@") ? [text[...]] : text.split(separator: ",", omittingEmptySubsequences: false)
        return members.map { $0.contains("://") ? SourceLabel.url(String($0)) : String($0) }.joined(separator: ",")
    }
}

extension JSONValue {
    /// A short description of an object or list in the settings file: its names, or its length.
    var summary: String {
        switch self {
        case .object(let members): members.map(\.0).joined(separator: ",")
        case .array(let values): "\(values.count)"
        default: commandLineText ?? "none"
        }
    }
}
