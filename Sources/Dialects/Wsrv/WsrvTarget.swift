import Recipes
import Text
import ThumbnailTypes

/// Names and values are not percent-decoded.
///
/// A few parameters for the response have case-insensitive names; the others are ``WsrvOptions``.
struct WsrvTarget {
    struct Parameter {
        let name: ArraySlice<UInt8>
        let value: ArraySlice<UInt8>?
    }

    private let parameters: [Parameter]

    private static let maximumReported = (count: 32, bytes: 64)
    private static let standardFileName = "image"

    init(_ target: String) {
        let bytes = Array(target.utf8)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        parameters = bytes[mark...].dropFirst().split(separator: UInt8(ascii: "&")).map { parameter in
            guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else {
                return Parameter(name: parameter, value: nil)
            }
            return Parameter(name: parameter[..<equals], value: parameter[(equals + 1)...])
        }
    }

    static func namesSource(_ target: String) -> Bool {
        guard let query = target.suffix(after: UInt8(ascii: "?")) else { return false }
        return query.utf8.split(separator: UInt8(ascii: "&")).contains { parameter in
            parameter.dropFirst(3).first == UInt8(ascii: "=") && isName(Array(parameter.prefix(3))[...], name: "url")
        }
    }

    func request() throws(APIError) -> Request {
        guard let text = value(of: "url") else { throw .missingParameter("url") }
        let source: String?
        var fault: APIError?
        do throws(APIError) {
            source = try WsrvSource.url(text)
        } catch {
            source = nil
            fault = error
        }
        let fallback = fallback(source)
        if let fault, fallback == nil { throw fault }

        let (options, ignored) = options()
        guard options.output != .format(.tiff) else { throw .unsupportedOption("output", "Alula does not write TIFF.") }
        let recipe = WsrvRecipe(options)
        var request = Request(source: ExactText(source ?? WsrvSource.impossible), recipe: recipe, isNegotiated: false)
        request.form.fileName = ExactText(fileName)
        request.form.maximumAge = value(of: "maxage").map { WsrvDuration.maximumAge($0) }
        if options.output == .facts || options.isInBase64 {
            request.form.writer = ResponseWriter(for: recipe) { recipe.writtenResponse(about: $0) }
        }
        request.form.fallback = fallback
        request.ignoredOptions = ignored
        return request
    }

    private func value(of name: String) -> ArraySlice<UInt8>? {
        parameters.first { $0.value != nil && Self.isName($0.name, name: name) }?.value
    }

    private static func isName(_ bytes: ArraySlice<UInt8>, name: String) -> Bool {
        bytes.count == name.utf8.count && zip(bytes, name.utf8).allSatisfy { $0 | 0x20 == $1 }
    }

    /// `1` selects the source.
    private func fallback(_ source: String?) -> Fallback? {
        guard let text = value(of: "default") ?? value(of: "errorredirect") else { return nil }
        if text.elementsEqual("1".utf8) { return source.map { .named(ExactText($0), asTarget: nil) } }
        guard let url = try? WsrvSource.url(text) else { return nil }
        return .named(ExactText(url), asTarget: ExactText(target(of: url)))
    }

    /// Returns a relative reference that requests the image at another URL with the same options (RFC 3986, 4.2).
    private func target(of url: String) -> String {
        let others = parameters.filter { parameter in
            !["url", "default", "errorredirect"].contains { Self.isName(parameter.name, name: $0) }
        }
        let texts = others.map { parameter in
            String(decoding: parameter.name + (parameter.value.map { [UInt8(ascii: "=")] + $0 } ?? []), as: UTF8.self)
        }
        return "?" + (["url=" + URLEscape.encode(url)] + texts).joined(separator: "&")
    }

    private var fileName: String {
        guard let text = value(of: "filename"), (1...78).contains(text.count), text.allSatisfy(Self.isAlphanumeric)
        else { return Self.standardFileName }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric }

    private func options() -> (WsrvOptions, ignored: [String]) {
        var reader = WsrvOptionReader()
        var ignored: [String] = []
        for parameter in parameters where !Self.affectsResponse(parameter.name) {
            guard !reader.read(parameter.name, value: parameter.value), ignored.count < Self.maximumReported.count
            else { continue }
            let text = parameter.name + (parameter.value.map { [UInt8(ascii: "=")] + $0 } ?? [])
            ignored.append(String(decoding: text.prefix(Self.maximumReported.bytes), as: UTF8.self))
        }
        reader.options.isInBase64 = value(of: "encoding").map { Self.isName($0, name: "base64") } ?? false
        return (reader.options, ignored)
    }

    private static func affectsResponse(_ name: ArraySlice<UInt8>) -> Bool {
        ["url", "default", "errorredirect", "filename", "encoding", "maxage"].contains { isName(name, name: $0) }
    }
}
