/// The lines about sources that gave no result: one each, but of the results that are there already one stands for all.
struct FailureLines {
    private var existing = 0

    /// The line about a failure; nil if there is to be none.
    mutating func line(for failure: CommandFailure, about source: String) -> String? {
        if failure.code == ResultFile.existing.code {
            existing += 1
            guard existing == 1 else { return nil }
        }
        return failure.line(about: source)
    }

    /// The line that stands for those that were left out.
    var rest: String? {
        existing > 1 ? "\(existing - 1) more result\(existing == 2 ? "" : "s") exist; --force replaces them" : nil
    }
}
