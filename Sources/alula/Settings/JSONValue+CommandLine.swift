import JSON

/// A value in the settings file is read like one on the command line.
extension JSONValue {
    /// The value as it would be written on the command line; lists are joined with commas.
    var commandLineText: String {
        switch self {
        case .string(let text): text
        case .bool(let isOn): isOn ? "on" : "off"
        case .int(let number): String(number)
        case .double(let number): "\(number)"
        case .array(let values): values.map(\.commandLineText).joined(separator: ",")
        case .object: "{…}"
        case .null: "null"
        }
    }
}
