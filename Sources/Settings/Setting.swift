/// One setting: its name in three spellings, what it means and how its text becomes a value.
package struct Setting: Sendable {
    /// `maxActiveDownloads`: the spelling in the file.
    let name: String
    /// The value at the start, given like any other; nil if the setting has none until it is given.
    let defaultValue: String?
    /// The default as people read it: the value, or words for there being none.
    package let defaultText: String
    /// One line for `--help`.
    package let help: String
    /// Stores the value of a text.
    let apply: @Sendable (inout Settings, String) throws(InvalidValue) -> Void
    /// Whether the value must never be shown.
    let isSecret: Bool

    /// A setting with a value from the start.
    init(
        name: String, default value: String, help: String,
        apply: @escaping @Sendable (inout Settings, String) throws(InvalidValue) -> Void
    ) {
        (self.name, defaultValue, defaultText, self.help, isSecret) = (name, value, value, help, false)
        self.apply = apply
    }

    /// A setting without a value until it is given; `defaultText` says how the service behaves then.
    init(
        name: String, defaultText: String, help: String,
        apply: @escaping @Sendable (inout Settings, String) throws(InvalidValue) -> Void, isSecret: Bool = false
    ) {
        (self.name, defaultValue, self.defaultText, self.help, self.isSecret) = (name, nil, defaultText, help, isSecret)
        self.apply = apply
    }

    /// The spelling on the command line: `--max-active-downloads`.
    package var flag: String { "--" + words.joined(separator: "-") }

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
