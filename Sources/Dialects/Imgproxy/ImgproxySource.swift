import Crypto
import Text

struct ImgproxySource {
    let url: ExactText
    let format: String?

    private static let maximumLength = 2_048

    init(_ segments: ArraySlice<ArraySlice<UInt8>>, configuration: ImgproxyConfiguration) throws(APIError) {
        guard let first = segments.first else { throw .badURL("The source is missing.") }
        if first.elementsEqual("enc".utf8), segments.count > 1 {
            throw .unsupportedOption("enc", "Encrypted sources need imgproxy Pro and are not supported.")
        }
        if first.elementsEqual("-".utf8), segments.count > 1 {
            throw .unsupportedOption("-", "Multiple pipelines need imgproxy Pro and are not supported.")
        }
        let written: [UInt8]
        if first.elementsEqual("plain".utf8), segments.count > 1 {
            let text = Array(segments.dropFirst().joined(separator: [UInt8(ascii: "/")]))
            let (source, format) = try Self.cut(text, at: UInt8(ascii: "@"))
            guard let decoded = URLEscape.decode(source) else { throw .badURL("The source is not percent-encoded.") }
            written = decoded
            self.format = format
        } else {
            let isNamed = configuration.ignoresNameAfterBase64 && segments.count > 1
            let text = Array((isNamed ? segments.dropLast() : segments).joined())
            let (source, format) = try Self.cut(text, at: UInt8(ascii: "."))
            guard let decoded = Base64URL.decode(Self.withoutPadding(String(decoding: source, as: UTF8.self))) else {
                throw .badURL("The source is not valid base64url.")
            }
            written = decoded
            self.format = format
        }
        url = try Self.url(written, configuration: configuration)
    }

    private static func cut(
        _ text: [UInt8], at mark: UInt8
    ) throws(APIError) -> (source: ArraySlice<UInt8>, format: String?) {
        let fields = text.split(separator: mark, maxSplits: 2, omittingEmptySubsequences: false)
        guard let source = fields.first, !source.isEmpty else { throw .badURL("The source is empty.") }
        guard fields.count <= 2 else { throw .badURL("More than one format is named.") }
        guard fields.count == 2, !fields[1].isEmpty else { return (source, nil) }
        return (source, String(decoding: fields[1], as: UTF8.self))
    }

    private static func url(_ written: [UInt8], configuration: ImgproxyConfiguration) throws(APIError) -> ExactText {
        guard written.count <= maximumLength else { throw .badURL("The source is longer than \(maximumLength) bytes.") }
        var source = written
        for replacement in configuration.replacements { source = replacement.applied(to: source) }
        if !configuration.baseURL.begins(source) { source = configuration.baseURL.source(source) }
        if let origin = configuration.localOrigin, source.starts(with: "local://".utf8) {
            source = Array("\(origin):".utf8) + source.dropFirst(8).drop { $0 == UInt8(ascii: "/") }
        }
        guard let text = String(validating: source, as: UTF8.self) else { throw .badURL("The source is not UTF-8.") }
        return ExactText(Self.escaped(try ParameterGrammar.source(text)))
    }

    /// Escapes a URL after its host; returns other sources unchanged.
    private static func escaped(_ url: String) -> String {
        let bytes = Array(url.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return url
        }
        let path = bytes[(colon + 3)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        return String(decoding: bytes[..<path], as: UTF8.self)
            + URLEscape.encode(bytes[path...]) { $0 != 0x20 && $0 < 0x80 }
    }

    static func withoutPadding(_ text: String) -> Substring {
        text[..<(text.utf8.lastIndex { $0 != UInt8(ascii: "=") }.map { text.utf8.index(after: $0) } ?? text.startIndex)]
    }
}
