public enum NearestName {
    /// The maximum length in bytes; a longer text is not a mistyped name.
    private static let maximumLength = 64

    /// Returns the first name with the fewest edits; nil if no name is near, or if `text` itself is a name.
    ///
    /// An edit inserts, deletes or replaces a byte, or swaps two adjacent ones. Case is ignored. A name is near if it
    /// needs at most one edit per three bytes of the text. Otherwise, a text of at least three bytes is near the only
    /// name that begins with it.
    public static func of(_ text: String, among names: some Sequence<String>) -> String? {
        guard text.utf8.count <= maximumLength, !text.isEmpty else { return nil }
        let bytes = Array(text.asciiLowercased.utf8)
        var nearest: (name: String, edits: Int)?
        for name in names where abs(name.utf8.count - bytes.count) <= bytes.count / 3 {
            if name.isExactly(text) { return nil }
            let edits = edits(from: bytes, to: Array(name.asciiLowercased.utf8))
            if edits <= bytes.count / 3, edits < nearest?.edits ?? .max { nearest = (name, edits) }
        }
        if let nearest { return nearest.name }
        let longer = names.filter { $0.asciiLowercased.utf8.starts(with: bytes) }
        return bytes.count >= 3 && longer.count == 1 ? longer.first : nil
    }

    /// Returns the number of edits, no two of which touch the same bytes (optimal string alignment).
    private static func edits(from text: [UInt8], to name: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...name.count)
        for row in text.indices {
            var current = [row + 1]
            for column in name.indices {
                let isSame = text[row] == name[column]
                var least = min(last[column + 1] + 1, current[column] + 1, last[column] + (isSame ? 0 : 1))
                if row > 0, column > 0, text[row] == name[column - 1], text[row - 1] == name[column] {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            beforeLast = last
            last = current
        }
        return last[name.count]
    }
}
