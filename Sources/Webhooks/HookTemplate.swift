import Downloading
import JSON
import Text

struct HookTemplate: Sendable, Equatable {
    /// Where in a request the text is used; it determines how values are escaped.
    enum Context: Sendable {
        /// Values are percent-encoded except for letters, digits and `-._~` (RFC 3986 section 2.1); tags are joined by
        /// commas.
        case url
        /// In a field, values are unchanged, and tags are joined by spaces.
        case field
        /// Within a string, values are escaped, and tags are joined by commas.
        ///
        /// Elsewhere a value becomes a string, and `{tags}` an array of strings.
        case json
        case text
    }

    enum Value: String, Sendable, CaseIterable {
        case url, tags, tag

        fileprivate var placeholder: [UInt8] { Array("{\(rawValue)}".utf8) }
    }

    private enum Segment: Sendable, Equatable {
        case literal([UInt8])
        case value(Value, isInString: Bool)
    }

    private let context: Context
    private var segments: [Segment] = []

    /// Braces around unknown names are literal.
    init(_ text: String, in context: Context) {
        self.context = context
        var rest = Array(text.utf8)[...]
        var literal: [UInt8] = []
        var isInString = false
        var isEscaped = false
        while let byte = rest.first {
            if let value = Value.allCases.first(where: { rest.starts(with: $0.placeholder) }) {
                segments += [.literal(literal), .value(value, isInString: isInString)]
                literal = []
                rest = rest.dropFirst(value.placeholder.count)
                isEscaped = false
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
            isEscaped = isInString && byte == UInt8(ascii: "\\") && !isEscaped
            literal.append(byte)
            rest = rest.dropFirst()
        }
        segments.append(.literal(literal))
    }

    func has(_ value: Value) -> Bool { segments.contains { if case .value(value, _) = $0 { true } else { false } } }

    /// The text before the first placeholder.
    var literalPrefix: [UInt8] { if case .literal(let bytes)? = segments.first { bytes } else { [] } }

    /// Returns the text with its values; nil if the purge lacks one of them.
    ///
    /// - Parameter tag: The value of `{tag}`.
    func filled(with purge: PurgeReport, tag: String?) -> [UInt8]? {
        var bytes: [UInt8] = []
        for segment in segments {
            switch segment {
            case .literal(let literal): bytes += literal
            case .value(.url, let isInString):
                guard let url = purge.url else { return nil }
                bytes += escaped(url, isInString: isInString)
            case .value(.tag, let isInString):
                guard let tag else { return nil }
                bytes += escaped(tag, isInString: isInString)
            case .value(.tags, let isInString):
                guard !purge.tags.isEmpty else { return nil }
                if case .json = context, !isInString {
                    bytes += Array(JSONValue.array(purge.tags.map { .string($0) }).text.utf8)
                } else {
                    let separator = if case .field = context { " " } else { "," }
                    bytes += Array(
                        purge.tags.map { escaped($0, isInString: isInString) }.joined(separator: separator.utf8))
                }
            }
        }
        return bytes
    }

    private func escaped(_ text: String, isInString: Bool) -> [UInt8] {
        switch context {
        case .url: Array(URLEscape.encode(text.utf8).utf8)
        case .field, .text: Array(text.utf8)
        case .json:
            isInString ? Array(JSONText.string(text).utf8.dropFirst().dropLast()) : Array(JSONText.string(text).utf8)
        }
    }
}
