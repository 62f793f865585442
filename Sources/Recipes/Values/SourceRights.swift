import Text

/// Author, license, and marks of AI in the metadata of a file.
package struct SourceRights: Hashable, Sendable {
    /// The fields, in the order in which they share ``maximumBytes``.
    package enum Field: String, CaseIterable, Sendable {
        case digitalSourceType, aiSystem, aiPrompt
        case creator, credit, copyright, usageTerms, webStatement, licensor

        package var kind: KeptMetadata {
            switch self {
            case .digitalSourceType, .aiSystem, .aiPrompt: .ai
            default: .rights
            }
        }
    }

    private var texts: [Field: String] = [:]
    /// Whether the file contains a C2PA manifest, which is not verified.
    package var hasManifest = false

    /// Maximum bytes of a text in UTF-8; longer texts are cut.
    package static let longestText = 2 << 10
    /// Maximum bytes of all texts in UTF-8; further texts are dropped.
    package static let maximumBytes = 8 << 10

    package init() {}

    package subscript(field: Field) -> String? { texts[field] }

    package var isEmpty: Bool { texts.isEmpty && !hasManifest }

    /// Sets a field unless it has a text; drops control characters, and replaces invalid UTF-8.
    package mutating func add(_ field: Field, text bytes: some Sequence<UInt8>) {
        guard texts[field] == nil else { return }
        let text = Self.text(bytes)
        if !text.isEmpty { texts[field] = text }
    }

    /// Drops fields above the total.
    package mutating func limit() {
        var rest = Self.maximumBytes
        for field in Field.allCases {
            guard let text = texts[field] else { continue }
            if text.utf8.count > rest { texts[field] = nil } else { rest -= text.utf8.count }
        }
    }

    /// Returns the fields to keep; nil if there are none.
    package func only(_ kept: KeptMetadata) -> SourceRights? {
        var rest = SourceRights()
        rest.texts = texts.filter { kept.contains($0.key.kind) }
        return rest.texts.isEmpty ? nil : rest
    }

    /// Part of the keys on disk; omits the texts, which follow from the source.
    var keyText: String { "metadata \(kinds.text)" }

    package var kinds: KeptMetadata { texts.keys.reduce(into: KeptMetadata()) { $0.insert($1.kind) } }

    var byteCount: Int { texts.values.reduce(128) { $0 + $1.utf8.count + 48 } }

    private static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for scalar in String(decoding: Array(bytes), as: UTF8.self).unicodeScalars {
            // C0, C1, and characters that reverse or hide text.
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF: continue
            default: break
            }
            guard text.utf8.count + scalar.utf8.count <= longestText else { break }
            text.unicodeScalars.append(scalar)
        }
        while text.utf8.last == UInt8(ascii: " ") { text.removeLast() }
        return text
    }
}

package struct KeptMetadata: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let rights = KeptMetadata(rawValue: 1)
    package static let ai = KeptMetadata(rawValue: 2)

    package static let noneName = "none"
    package static let all: [(name: String, value: KeptMetadata)] = [("rights", .rights), ("ai", .ai)]

    package var words: [String] { Self.all.filter { contains($0.value) }.map(\.name) }

    package var text: String { isEmpty ? Self.noneName : words.joined(separator: ",") }

    /// Parses `none` or words separated by commas, each once; nil for anything else.
    package init?(_ text: String) {
        self = []
        if text == Self.noneName { return }
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let value = Self.all.first(where: { $0.name == word })?.value, insert(value).inserted else {
                return nil
            }
        }
    }
}
