import Program

enum CompletionCommand {
    static let description = CommandDescription(
        name: "completion", summary: "print a completion script for a shell",
        operands: Shell.allCases.map(\.rawValue).joined(separator: "|"),
        text: """
            Prints a completion script for commands, options and their values.

              bash: alula completion bash > /etc/bash_completion.d/alula, or source <(alula completion bash) in ~/.bashrc
              zsh:  alula completion zsh > a file _alula in a folder of $fpath
              fish: alula completion fish > ~/.config/fish/completions/alula.fish
            """, takesSettings: false)

    enum Shell: String, CaseIterable {
        case bash, zsh, fish
    }

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            guard arguments.operands.count == 1, let shell = Shell(rawValue: arguments.operands[0]) else {
                throw UsageError("expected one shell: \(Shell.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            let commands = CompletionTable.commands
            let script =
                switch shell {
                case .bash: BashCompletion.script(commands)
                case .zsh: ZshCompletion.script(commands)
                case .fish: FishCompletion.script(commands)
                }
            return Program.print(script) ? 0 : 1
        }
    }
}
