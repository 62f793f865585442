import Settings

struct CommandDescription: Sendable {
    let name: String
    let summary: String
    /// The operands in the usage line, such as `SOURCE… -o FILE|FOLDER`; empty if there are none.
    let operands: String
    let text: String
    var options: [CommandOption] = []
    var takesParameters = false
    var takesSettings = true
    /// Whether only settings for image processing are options.
    var takesImageSettings = false
    /// Whether operands are files or folders of images.
    var takesFiles = false
    var examples: [String] = []

    /// All options; if the command takes parameters, `-h` is the height instead of the help.
    var allOptions: [CommandOption] {
        var help = CommandOption.help
        if takesParameters { help.short = nil }
        return options + [help]
    }

    var settings: [Setting] { !takesSettings ? [] : takesImageSettings ? SettingTable.ofCommands : SettingTable.all }

    func option(_ name: Substring) -> CommandOption? { allOptions.first { $0.name == name } }

    var helpText: String {
        var sections = ["Usage: alula \(name)" + (operands.isEmpty ? "" : " \(operands)"), text]
        if !examples.isEmpty { sections.append(examples.map { "  " + $0 }.joined(separator: "\n")) }
        sections.append("Options:\n" + Self.table(allOptions.map { ($0.heading, $0.help) }))
        if takesParameters {
            sections.append("Result options:\n" + Self.table(ThumbnailOptionText.rows))
        }
        if takesImageSettings {
            sections.append("Settings:\n" + Self.table(settings.map { ($0.flag, $0.help) }))
            sections.append("The settings file (--config FILE or ALULA_CONFIG) and the environment can set them, too.")
        } else if takesSettings {
            sections.append(
                """
                Settings of the service apply too: from the file (--config FILE or ALULA_CONFIG), the environment
                (ALULA_ALLOWED_NETWORKS) or options (--allowed-networks 10.0.0.0/8). See `alula serve --help`.
                """)
        }
        return sections.joined(separator: "\n\n")
    }

    static func table(_ rows: [(String, String)], width: Int = 100) -> String {
        let columnWidth = min(28, rows.map(\.0.count).max() ?? 0)
        return rows.map { head, text in
            let lines = Self.wrapped(text, width: max(20, width - columnWidth - 4))
            let padding = String(repeating: " ", count: columnWidth + 4)
            let first =
                head.count > columnWidth ? "  \(head)\n\(padding)" : "  \(head)\(padding.dropFirst(head.count + 2))"
            return first + lines.joined(separator: "\n" + padding)
        }.joined(separator: "\n")
    }

    private static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
