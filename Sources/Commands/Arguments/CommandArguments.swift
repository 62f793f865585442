import Dialects
import Settings
import Text
import ThumbnailAPI
import ThumbnailTypes

struct UsageError: Error, Equatable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

struct CommandArguments: Sendable {
    private(set) var operands: [String] = []
    /// The parameters in order, as spelled.
    private(set) var parameters: [(name: String, value: String)] = []
    private(set) var settings: [String] = []
    private var values: [ExactText: [String]] = [:]

    /// Parses arguments; after `--`, all of them are operands.
    init(_ arguments: [String], for command: CommandDescription) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands += rest
                return
            }
            if argument.utf8.count > 1, argument.utf8.first == UInt8(ascii: "-") {
                try read(argument, followedBy: &rest, for: command)
            } else {
                operands.append(argument)
            }
        }
    }

    /// Reads the value: the text after an equals sign, otherwise the next argument.
    private mutating func read(
        _ argument: String, followedBy rest: inout ArraySlice<String>, for command: CommandDescription
    ) throws(UsageError) {
        let name = argument.prefix(before: UInt8(ascii: "="))
        let inline = argument.suffix(after: UInt8(ascii: "=")).map(String.init)
        func value(_ form: String?) throws(UsageError) -> String {
            if let inline { return inline }
            // A value may be a negative number, but not another option.
            guard let next = rest.first, !Self.isOption(next) else {
                throw UsageError("\(name) needs a value" + (form.map { ": " + $0 } ?? ""))
            }
            return rest.removeFirst()
        }
        if let option = Self.option(name, of: command) {
            if option.form == nil, inline != nil { throw UsageError("\(name) takes no value") }
            let value = option.form == nil ? "" : try value(option.form)
            if !option.isRepeatable, values[ExactText(option.name)] != nil { throw UsageError("\(name) is repeated") }
            values[ExactText(option.name), default: []].append(value)
        } else if command.takesParameters, let option = Self.parameter(name) {
            let isShort = !name.utf8.starts(with: "--".utf8)
            parameters.append((isShort ? option.name : String(name.dropFirst(2)), try value(option.form)))
        } else if command.takesSettings, name == "--config" || command.settings.contains(where: { $0.flag == name }) {
            settings += [String(name), try value(nil)]
        } else {
            throw Self.unknown(String(name), for: command)
        }
    }

    private static func unknown(_ name: String, for command: CommandDescription) -> UsageError {
        let names =
            SettingTable.all.contains { $0.flag == name }
            ? "\(name) is a setting of alula serve, and has no effect on this command" : "unknown option \(name)"
        let nearest = suggestions[ExactText(name)] ?? NearestName.of(name, among: flags(of: command))
        return UsageError(names + (nearest.map { "; did you mean \($0)?" } ?? ""))
    }

    func rejectOperands() throws(UsageError) {
        if let operand = operands.first { throw UsageError("unexpected argument \(operand)") }
    }

    func has(_ option: CommandOption) -> Bool { values[ExactText(option.name)] != nil }

    func value(of option: CommandOption) -> String? { values[ExactText(option.name)]?.first }

    func values(of option: CommandOption) -> [String] { values[ExactText(option.name)] ?? [] }

    func pairs(_ options: [CommandOption]) -> [(name: String, value: String)] {
        options.compactMap { option in value(of: option).map { (option.name, $0) } }
    }

    func number(_ option: CommandOption, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = value(of: option) else { return nil }
        do {
            return try SettingParser.integer(in: range).parse(text)
        } catch {
            throw UsageError("\(option.flag): expected \(error.allowed)")
        }
    }

    /// Whether the argument begins with a hyphen that no digit follows.
    private static func isOption(_ argument: String) -> Bool {
        let bytes = argument.utf8
        guard bytes.first == UInt8(ascii: "-"), let second = bytes.dropFirst().first else { return false }
        return !second.isASCIIDigit
    }

    private static func option(_ name: Substring, of command: CommandDescription) -> CommandOption? {
        if name.utf8.starts(with: "--".utf8) { return command.option(name.dropFirst(2)) }
        return command.allOptions.first { $0.short.map { name == "-\($0)" } ?? false }
    }

    private static func parameter(_ name: Substring) -> ThumbnailOption? {
        if let name = name.suffix(after: "--") { return ThumbnailOption.named(String(name)) }
        return ThumbnailOptionText.shortNames[ExactText(String(name))].flatMap { ThumbnailOption.named($0) }
    }

    private static func flags(of command: CommandDescription) -> [String] {
        command.allOptions.map(\.flag)
            + (command.takesParameters
                ? ThumbnailOption.all.flatMap { ([$0.name] + $0.aliases).map { "--" + $0 } } : [])
            + (command.takesSettings ? command.settings.map(\.flag) + ["--config"] : [])
    }

    /// Suggestions for options of the service and of other programs.
    private static let suggestions: [ExactText: String] = [
        "--size": "--w and --h", "--sizes": "--w and --h", "--auto-width": "--w", "--qualities": "--q",
        "--save-data-quality": "--q", "--auto-formats": "--format",
    ]
}

enum ThumbnailOptionText {
    static let shortNames: [ExactText: String] = ["-w": "w", "-h": "h", "-q": "q", "-f": "format"]

    static let rows = ThumbnailOption.all.map { option in
        let short = shortNames.filter { $0.value == option.name }.map(\.key.description)
        let names = (short + ([option.name] + option.aliases).map { "--" + $0 }).joined(separator: ", ")
        return ("\(names) \(option.form)", option.help)
    }
}

extension APIError {
    /// The error with the name of the option.
    var usageError: UsageError {
        var sentence = publicMessage.hasSuffix(".") ? String(publicMessage.dropLast()) : publicMessage
        // In a command, `gravity=focal` is `--gravity focal`.
        sentence = sentence.split(separator: " ").map { word in
            guard let value = word.suffix(after: UInt8(ascii: "=")) else { return String(word) }
            return "--\(word.prefix(before: UInt8(ascii: "="))) \(value)"
        }.joined(separator: " ")
        guard let parameter else { return UsageError(CommandFailure.lowered(sentence)) }
        return UsageError("--\(parameter): \(CommandFailure.lowered(sentence))")
    }
}
