import Text

enum FormQuery {
    /// Decoded, in order; nil if a parameter is not percent-encoded UTF-8.
    ///
    /// A plus stands for a space.
    static func items(of target: String) -> [(name: String, value: String)]? {
        (try? RawQuery(target: target).decoded(isForm: true))?.filter { !($0.name.isEmpty && $0.value.isEmpty) }
    }

    /// Sorted by name, keeping the order of values with the same name, and encoded as Go does.
    static func text(sorting items: [(name: String, value: String)]) -> String {
        let sorted = items.enumerated().sorted { one, other in
            let (first, second) = (ExactText(one.element.name), ExactText(other.element.name))
            return first == second ? one.offset < other.offset : first < second
        }
        return sorted.map { "\(encoded($0.element.name))=\(encoded($0.element.value))" }.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { URLEscape.encode(String($0)) }
            .joined(separator: "+")
    }
}
