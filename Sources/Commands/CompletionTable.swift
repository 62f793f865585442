import Dialects
import Settings
import Text
import ThumbnailAPI

/// The words for shell completion, from the tables of commands, options, parameters and settings.
enum CompletionTable {
    struct Command: Sendable {
        let name: String
        let summary: String
        let options: [CommandOption]
        /// The possible operands, if they are not files.
        let words: [String]
    }

    static var commands: [Command] {
        AlulaCommand.all.map(\.description).map { command in
            Command(
                name: command.name, summary: command.summary, options: options(of: command),
                words: command.name == CompletionCommand.description.name
                    ? CompletionCommand.Shell.allCases.map(\.rawValue) : [])
        }
    }

    private static func options(of command: CommandDescription) -> [CommandOption] {
        let flags = Set(command.settings.map { ExactText($0.flag) })
        return command.allOptions + (command.takesParameters ? parameters : [])
            + settings.filter { flags.contains(ExactText($0.flag)) || command.takesSettings && $0.name == "config" }
    }

    private static let parameters = ThumbnailOption.all.flatMap { option in
        ([option.name] + option.aliases).map { name in
            CommandOption(
                name: name, form: option.form, help: option.help,
                completion: option.values.isEmpty ? .nothing : .words(option.values))
        }
    }

    private static let settings =
        [CommandOption(name: "config", form: "FILE", help: "the settings file", completion: .files)]
        + SettingTable.all.map { setting in
            CommandOption(
                name: String(setting.flag.dropFirst(2)), form: "VALUE", help: setting.help, completion: .nothing)
        }
}

enum BashCompletion {
    static func script(_ commands: [CompletionTable.Command]) -> String {
        let cases = commands.map { command in
            var lines = ["        \(command.name))"]
            lines.append("            options='\(command.options.map(\.flag).joined(separator: " "))'")
            if !command.words.isEmpty { lines.append("            words='\(command.words.joined(separator: " "))'") }
            return (lines + ["            ;;"]).joined(separator: "\n")
        }
        var values: [(String, String)] = []
        var flags: [String] = []
        for command in commands {
            for option in command.options {
                if case .words(let words) = option.completion {
                    values.append((option.flag, words.joined(separator: " ")))
                } else if option.form != nil, option.completion == .nothing {
                    flags.append(option.flag)
                }
            }
        }
        let wordCases = Self.unique(values.map { "        \($0.0)) values='\($0.1)' ;;" })
        let bare = Self.unique(flags).joined(separator: "|")
        return """
            # Completion of alula for bash, made by `alula completion bash`.
            _alula() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} options= words= values=
                COMPREPLY=()
                if [ "$COMP_CWORD" -eq 1 ]; then
                    COMPREPLY=($(compgen -W '\(commands.map(\.name).joined(separator: " "))' -- "$current"))
                    return
                fi
                case $previous in
            \(wordCases.joined(separator: "\n"))
                    \(bare)) return ;;
                esac
                if [ -n "$values" ]; then
                    COMPREPLY=($(compgen -W "$values" -- "$current"))
                    return
                fi
                case ${COMP_WORDS[1]} in
            \(cases.joined(separator: "\n"))
                esac
                case $current in
                    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
                    *) [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
                esac
            }
            complete -o bashdefault -o default -F _alula alula
            """
    }

    private static func unique(_ texts: [String]) -> [String] {
        var seen: Set<ExactText> = []
        return texts.filter { seen.insert(ExactText($0)).inserted }
    }
}

enum ZshCompletion {
    static func script(_ commands: [CompletionTable.Command]) -> String {
        let names = commands.map { "        \(quoted("\($0.name):\($0.summary)"))" }
        let cases = commands.map { command in
            let options = command.options.map { "                " + specification($0) }
            let rest =
                command.words.isEmpty
                ? "'*:source:_files'" : "'*:word:(\(command.words.joined(separator: " ")))'"
            return """
                        \(command.name))
                            _arguments \\
                \(options.map { $0 + " \\" }.joined(separator: "\n"))
                                \(rest)
                            ;;
                """
        }
        return """
            #compdef alula
            # Completion of alula for zsh, made by `alula completion zsh`.
            _alula() {
                local -a commands
                commands=(
            \(names.joined(separator: "\n"))
                )
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                local command=$words[2]
                shift words
                (( CURRENT-- ))
                case $command in
            \(cases.joined(separator: "\n"))
                esac
            }
            if [ "$funcstack[1]" = _alula ]; then
                _alula "$@"
            else
                compdef _alula alula
            fi
            """
    }

    private static func specification(_ option: CommandOption) -> String {
        var text = "\(option.flag)[\(escaped(option.help))]"
        if let form = option.form {
            text += ":\(escaped(form)):"
            switch option.completion {
            case .nothing: text += " "
            case .files: text += "_files"
            case .folders: text += "_files -/"
            case .words(let words): text += "(\(words.joined(separator: " ")))"
            }
        }
        return quoted(text)
    }

    private static func escaped(_ text: String) -> String {
        text.map { "[]:\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

enum FishCompletion {
    static func script(_ commands: [CompletionTable.Command]) -> String {
        var lines = ["# Completion of alula for fish, made by `alula completion fish`."]
        for command in commands {
            lines.append(
                "complete -c alula -f -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))")
        }
        for command in commands {
            let condition = "-n '__fish_seen_subcommand_from \(command.name)'"
            for option in command.options {
                var line = "complete -c alula \(condition) -l \(option.name)"
                if let short = option.short { line += " -s \(short)" }
                if option.form != nil {
                    switch option.completion {
                    case .nothing: line += " -x"
                    case .files: line += " -r -F"
                    case .folders: line += " -x -a '(__fish_complete_directories)'"
                    case .words(let words): line += " -x -a \(quoted(words.joined(separator: " ")))"
                    }
                }
                if !option.help.isEmpty { line += " -d \(quoted(option.help))" }
                lines.append(line)
            }
            if !command.words.isEmpty {
                lines.append("complete -c alula \(condition) -f -a \(quoted(command.words.joined(separator: " ")))")
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { "'\\".contains($0) ? "\\\($0)" : "\($0)" }.joined() + "'"
    }
}
