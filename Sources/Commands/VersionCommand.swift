import Program

enum VersionCommand {
    static let description = CommandDescription(
        name: "version", summary: "print the version", operands: "",
        text: "Prints the version and the revision of the source code in one line, as `alula --version` does.",
        takesSettings: false)

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            try arguments.rejectOperands()
            return Program.print(Program.build) ? 0 : 1
        }
    }
}
