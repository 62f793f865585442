struct CommandOption: Sendable, Equatable {
    enum Completion: Sendable, Equatable {
        case none, files, folders
        case words([String])
    }

    let name: String
    /// A letter, such as `o` for `-o`.
    var short: Character?
    /// The placeholder of the value, such as `FILE`; nil for an option without a value.
    var form: String?
    let help: String
    var completion = Completion.none
    var isRepeatable = false

    var flag: String { "--" + name }

    /// The heading in `--help`, such as `-o, --output FILE`.
    var heading: String { (short.map { "-\($0), " } ?? "") + flag + (form.map { " " + $0 } ?? "") }

    static let help = CommandOption(name: "help", short: "h", help: "print this help")
    static let verbose = CommandOption(name: "verbose", help: "also print the log")
    static let force = CommandOption(name: "force", help: "replace existing files")
    static let recursive = CommandOption(name: "recursive", help: "include subfolders")
    static let jobs = CommandOption(
        name: "jobs", form: "NUMBER",
        help:
            "threads for decodes and renders; default: one per core. Up to four sources per thread are fetched or read "
            + "ahead; --max-active-downloads limits the transfers")
    static let flat = CommandOption(name: "flat", help: "put all results into one folder instead of keeping subfolders")
    static let json = CommandOption(name: "json", help: "print one JSON object per line")
    static let responses = CommandOption(name: "json", help: "print the service's responses")
    static let header = CommandOption(
        name: "header", form: "'NAME: VALUE'",
        help: "a field or cookie for the named origins that forward it; repeatable", isRepeatable: true)
    static func output(_ form: String, help: String) -> CommandOption {
        CommandOption(name: "output", short: "o", form: form, help: help, completion: .files)
    }
}
