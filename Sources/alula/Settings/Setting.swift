/// One setting: its name in three spellings, what it means and how its text becomes a value.
struct Setting: Sendable {
    /// `maxActiveDownloads`: the spelling in the file.
    let name: String
    /// The default as people write it.
    let defaultText: String
    /// One line for `--help`.
    let help: String
    /// Stores the value of a text.
    let apply: @Sendable (inout Settings, String) throws(InvalidValue) -> Void
    /// Whether the value must never be shown.
    var isSecret = false

    /// The spelling on the command line: `--max-active-downloads`.
    var flag: String { "--" + words.joined(separator: "-") }

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
