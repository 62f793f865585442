import Text

struct IPXArguments {
    let parameters: FrontEndTarget
    let ignored: [String]

    private static let known = Set(
        """
        w width h height s resize enlarge fit pos position kernel q quality b background f format a animated flatten \
        autoorient rotate flip flop trim crop extract extend sharpen median blur dilate erode gamma negate normalize \
        threshold linear modulate brightness saturation hue lightness tint grayscale clahe opacity unflatten
        """.split(separator: " ").map { ExactText($0) })

    init(_ text: Substring) throws(APIError) {
        var named: [ExactText: [Substring]] = [:]
        var ignored: [String] = []
        for modifier in text.utf8.split(whereSeparator: { ",&".utf8.contains($0) }) {
            let name = Substring(modifier.prefix { !"_:=".utf8.contains($0) })
            let joined = modifier[name.endIndex...].dropFirst().map { ":=".utf8.contains($0) ? UInt8(ascii: "_") : $0 }
            guard let decoded = URLEscape.decodeText(joined[...]) else {
                throw .badParameter("modifiers", "The value is not percent-encoded UTF-8.")
            }
            let key = ExactText(name)
            guard Self.known.contains(key) else {
                if !name.isEmpty { ignored.append(String(Substring(modifier).prefix(APIError.longestQuotedName))) }
                continue
            }
            named[key] = decoded.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
                .map { Substring($0) }
        }
        for name in ["clahe", "opacity", "unflatten"] where named[ExactText(name)] != nil {
            throw .unsupportedOption(name, "It is not made here.")
        }
        self.ignored = ignored
        parameters = FrontEndTarget(
            named.flatMap { name, arguments in
                arguments.enumerated().filter { !$0.element.isEmpty }
                    .map { (FrontEndTarget.name($0.offset, of: name.string), String($0.element)) }
            }, flags: Set(named.keys))
    }
}
