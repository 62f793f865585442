/// A value in the settings file.
enum FileValue: Decodable, Sendable, Equatable {
    case text(String)
    case flag(Bool)
    case number(Int)
    case list([FileValue])
    case members([String: FileValue])
    case null

    /// Reads any JSON value but numbers with a fraction.
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int.self) {
            self = .number(value)
        } else if let values = try? container.decode([FileValue].self) {
            self = .list(values)
        } else {
            self = .members(try container.decode([String: FileValue].self))
        }
    }

    /// The value as it would be written on the command line; lists are joined with commas.
    var commandLineText: String {
        switch self {
        case .text(let text): text
        case .flag(let isOn): isOn ? "on" : "off"
        case .number(let number): String(number)
        case .list(let values): values.map(\.commandLineText).joined(separator: ",")
        case .members: "{…}"
        case .null: "null"
        }
    }
}
