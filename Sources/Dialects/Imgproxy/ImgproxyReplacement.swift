import Text

package struct ImgproxyReplacement: Hashable, Sendable {
    private let literals: [[UInt8]]
    /// The replacement; `${1}` stands for the text that matched the first star.
    private let replacement: [UInt8]

    /// The maximum number of stars, so that matching stays fast.
    private static let maximumStars = 4

    /// Returns nil if there are too many stars; a star matches any text without a slash.
    package init?(pattern: String, replacement: String) {
        literals = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
        self.replacement = Array(replacement.utf8)
        guard literals.count <= Self.maximumStars + 1 else { return nil }
    }

    /// Replaces matches in the source.
    ///
    /// The text after a replaced host cannot continue its name or port; stars in a host match only parts of names.
    func applied(to source: [UInt8]) -> [UInt8] {
        var search = Search(literals: literals, text: source)
        guard source.starts(with: literals[0]), let matched = search.match(after: 1, from: literals[0].count),
            let beginning = expanded(matched.stars)
        else { return source }
        let rest = source[matched.end...]
        let needsSlash = SourceBase.endsInAuthority(beginning) && !rest.isEmpty && rest.first != UInt8(ascii: "/")
        return beginning + (needsSlash ? [UInt8(ascii: "/")] : []) + rest
    }

    /// Tries each literal at each position once.
    private struct Search {
        let literals: [[UInt8]]
        let text: [UInt8]
        var failures: Set<Int> = []

        /// Returns the longest texts that the remaining stars can match, and the end of the match.
        mutating func match(after count: Int, from start: Int) -> (stars: [ArraySlice<UInt8>], end: Int)? {
            guard count < literals.count else { return ([], start) }
            let state = start * literals.count + count
            guard !failures.contains(state) else { return nil }
            let run = text[start...].prefix { $0 != UInt8(ascii: "/") }
            for end in (start...run.endIndex).reversed() where text[end...].starts(with: literals[count]) {
                if let rest = match(after: count + 1, from: end + literals[count].count) {
                    return ([text[start..<end]] + rest.stars, rest.end)
                }
            }
            failures.insert(state)
            return nil
        }
    }

    /// Expands `$1` or `${1}`; returns nil if a text is invalid in a host name.
    private func expanded(_ stars: [ArraySlice<UInt8>]) -> [UInt8]? {
        var text = [UInt8]()
        var index = 0
        while index < replacement.count {
            guard replacement[index] == UInt8(ascii: "$"), let (number, end) = reference(at: index + 1) else {
                text.append(replacement[index])
                index += 1
                continue
            }
            if stars.indices.contains(number - 1) {
                let isInHost = SourceBase.authority(atEndOf: text) != nil
                guard !isInHost || stars[number - 1].allSatisfy(Self.isOfHost) else { return nil }
                text += stars[number - 1]
            }
            index = end
        }
        return text
    }

    private static func isOfHost(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric || "-_.".utf8.contains(byte) }

    private func reference(at start: Int) -> (number: Int, end: Int)? {
        let rest = replacement[start...]
        let isBraced = rest.first == UInt8(ascii: "{")
        let digits = (isBraced ? rest.dropFirst() : rest).prefix(while: \.isASCIIDigit)
        guard (1...2).contains(digits.count), let number = Int(String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        if !isBraced { return (number, digits.endIndex) }
        guard digits.endIndex < replacement.endIndex, replacement[digits.endIndex] == UInt8(ascii: "}") else {
            return nil
        }
        return (number, digits.endIndex + 1)
    }
}
