import Text

/// A pattern for names of results below a folder or named origin: text, and tokens such as `{name}`.
struct ResultPattern: Hashable, Sendable {
    enum Token: String, CaseIterable, Hashable {
        /// The source's name without its extension.
        case name
        /// The source's folder relative to its operand.
        case dir
        /// The requested side, or the result's if none was requested.
        case w, h
        /// The extension of the result's format.
        case format
        /// The rendition's name, or its number from 1.
        case rendition
    }

    typealias Values = [Token: String]

    private enum Component: Hashable {
        case text(String)
        case token(Token)
    }

    private var components: [Component] = []

    /// Leaves room for an extension and a number: names have at most 255 bytes.
    private static let maximumStem = 230

    /// - Throws: ``UsageError`` for an unknown token, or for a name that cannot have the right extension.
    init(_ text: String) throws(UsageError) {
        var rest = text[...]
        while let brace = rest.utf8.firstIndex(of: UInt8(ascii: "{")) {
            guard let end = rest[brace...].utf8.firstIndex(of: UInt8(ascii: "}")),
                let token = Token(rawValue: String(rest[rest.utf8.index(after: brace)..<end]))
            else {
                let tokens = Token.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
                throw UsageError("-o \(text): the names of results may have \(tokens)")
            }
            append(.text(String(rest[..<brace])))
            append(.token(token))
            rest = rest[rest.utf8.index(after: end)...]
        }
        append(.text(String(rest)))
        guard has(.format) || ImageFileExtension.writtenFormat(FilePath.ending(of: text)) != nil else {
            throw UsageError("-o \(text): end the names of results in .{format}, or in the extension of an image")
        }
    }

    /// Creates a pattern for the only result of a source, or for one of several.
    ///
    /// - Parameter token: The token that distinguishes the renditions of a source; nil for a single rendition.
    init(distinguishing token: Token?) {
        components = [.token(.dir), .text("/"), .token(.name)]
        if let token { components += [.text("-"), .token(token)] }
        components += [.text("."), .token(.format)]
    }

    func has(_ token: Token) -> Bool { components.contains(.token(token)) }

    /// The literal extension; empty if the format decides.
    var ending: String {
        // The name may begin in an earlier component.
        if case .text(let text)? = components.last { FilePath.ending(of: "name" + text) } else { "" }
    }

    /// Replaces tokens with their values.
    ///
    /// An empty folder also removes the slash after it; a long name is truncated.
    func filled(_ values: Values) -> ResultPattern {
        var filled = self
        filled.components = []
        var skipsSlash = false
        for component in components {
            guard case .token(let token) = component, let value = values[token] else {
                if case .text(let text) = component, skipsSlash, text.utf8.first == UInt8(ascii: "/") {
                    filled.append(.text(String(text.dropFirst())))
                } else {
                    filled.append(component)
                }
                skipsSlash = false
                continue
            }
            skipsSlash = token == .dir && value.isEmpty
            filled.append(.text(token == .name ? fitting(value, among: values) : value))
        }
        return filled
    }

    /// The name, when all tokens are replaced.
    var text: String {
        components.map { component in
            switch component {
            case .text(let text): text
            case .token(let token): "{\(token.rawValue)}"
            }
        }.joined()
    }

    /// Adds a number before the extension.
    func numbered(_ number: Int) -> ResultPattern {
        var copy = self
        for index in components.indices.reversed() {
            guard case .text(let text) = components[index] else { continue }
            let name = text.utf8.lastIndex(of: UInt8(ascii: "/")).map { text.utf8.index(after: $0) } ?? text.startIndex
            if let dot = text[name...].utf8.lastIndex(of: UInt8(ascii: ".")) {
                copy.components[index] = .text("\(text[..<dot])-\(number)\(text[dot...])")
                return copy
            }
            if name > text.startIndex { break }
        }
        copy.append(.text("-\(number)"))
        return copy
    }

    private mutating func append(_ component: Component) {
        if case .text(let text) = component {
            if text.isEmpty { return }
            if case .text(let before)? = components.last {
                components[components.count - 1] = .text(before + text)
                return
            }
        }
        components.append(component)
    }

    private func fitting(_ name: String, among values: Values) -> String {
        var others = values
        others[.name] = nil
        let length = FilePath.name(of: filled(others).text).utf8.count - "{name}.{format}".utf8.count
        guard name.utf8.count > Self.maximumStem - max(0, length) else { return name }
        var cut = name[...]
        while cut.utf8.count > max(1, Self.maximumStem - max(0, length)) { cut.removeLast() }
        return String(cut)
    }
}
