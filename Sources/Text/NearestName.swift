/// Finds the known name that a mistyped one most likely means.
public enum NearestName {
    /// Longest text that is compared, in bytes; a longer one is no mistyped name.
    private static let longest = 64

    /// The first of the names that take the fewest edits from `text`: a byte more, less or other, or two neighbors
    /// exchanged.
    ///
    /// Upper and lower case count as the same. If even the nearest name takes more edits than a third of the text's
    /// bytes, it is the only one that begins with the text, if that has three bytes. Nil if there is none, or if `text`
    /// is itself a name.
    public static func of(_ text: String, among names: some Sequence<String>) -> String? {
        guard text.utf8.count <= longest, !text.isEmpty else { return nil }
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

    /// The edits between two texts, none of which touches the same bytes twice (optimal string alignment).
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
            (beforeLast, last) = (last, current)
        }
        return last[name.count]
    }
}
