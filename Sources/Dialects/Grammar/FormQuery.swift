import Text

/// A query as forms write it, in which a plus stands for a blank (application/x-www-form-urlencoded).
enum FormQuery {
    /// The parameters of a target in their order, decoded; nil if one is not percent-encoded UTF-8.
    static func items(of target: String) -> [(name: String, value: String)]? {
        (try? RawQuery(target: target).decoded(isForm: true))?.filter { !($0.name.isEmpty && $0.value.isEmpty) }
    }

    /// Parameters sorted by their names, values of one name in their order, written in the one way in which Go writes
    /// them.
    static func text(sorting items: [(name: String, value: String)]) -> String {
        let sorted = items.enumerated().sorted { one, other in
            let (first, second) = (ExactText(one.element.name), ExactText(other.element.name))
            return first == second ? one.offset < other.offset : first < second
        }
        return sorted.map { "\(encoded($0.element.name))=\(encoded($0.element.value))" }.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { PercentEncoding.encode(String($0)) }
            .joined(separator: "+")
    }
}
