import HTTPTypes
import JSON
import Text
import ThumbnailPipeline

/// The renditions that one call asks for: `{"url":"…","renditions":["w=300&format=webp",{"name":"hero","query":"w=1200"}]}`.
///
/// A member `include` in place of `query` asks for the facts of `/info` and what it names.
struct RenditionList: Sendable {
    /// One of them.
    struct Rendition: Sendable {
        /// The name of its part.
        let name: ExactText
        /// What is asked for, or what is wrong with it.
        let request: Result<Wanted, APIError>
    }

    /// What can be asked for.
    enum Wanted: Sendable {
        case image(ThumbnailRequest)
        case facts(FactsRequest)
    }

    /// The source; nil if the call brings the file.
    let source: String?
    /// The renditions in their order.
    let renditions: [Rendition]

    private static let longestName = 128

    /// Reads a list.
    ///
    /// - Parameters:
    ///   - body: The JSON.
    ///   - hasFile: Whether the call brings the file, so that it must not name a source.
    ///   - most: The most renditions that one call may have.
    ///   - accept: The request's `Accept`, which counts for `format=auto`.
    ///   - dialect: Reads the renditions.
    /// - Throws: ``APIError`` that names the first thing that is wrong with the list; a wrong query fails alone.
    init(
        _ body: [UInt8], hasFile: Bool, most: Int, accept: String?, dialect: NativeDialect
    ) throws(APIError) {
        let members = try JSONBody.members(
            try JSONBody.value(in: body), "", hasFile ? ["renditions"] : ["url", "renditions"])
        var source: String?
        if !hasFile {
            guard case .string(let url)? = members["url"] else { throw .badBody("/url", "Must be a text.") }
            do throws(APIError) { source = try ParameterGrammar.source(url) } catch {
                throw .badBody("/url", error.publicMessage)
            }
        }
        let elements = try JSONBody.elements(members, "renditions", "")
        guard elements.count <= most else {
            throw .badBody("/renditions/\(most)", "A call has at most \(most) renditions.")
        }
        var names: Set<ExactText> = []
        var renditions: [Rendition] = []
        for (index, element) in elements.enumerated() {
            let place = "/renditions/\(index)"
            let (name, text, isQuery) = try Self.texts(element, index, place)
            guard Self.isName(name) else {
                throw .badBody(place + "/name", "Must be 1 to 128 of A-Z a-z 0-9 . _ -, without a dot in front.")
            }
            guard names.insert(ExactText(name)).inserted else {
                throw .badBody(place + "/name", "Another rendition has this name.")
            }
            let request = Result { () throws(APIError) -> Wanted in
                if isQuery {
                    return .image(try dialect.rendition(text, of: source ?? Self.givenSource, accept: accept).request)
                }
                var facts = FactsRequest()
                if !text.isEmpty { try InfoReader.include(text, in: &facts) }
                return .facts(facts)
            }
            renditions.append(Rendition(name: ExactText(name), request: request))
        }
        (self.source, self.renditions) = (source, renditions)
    }

    /// What stands for the source of an image that was sent, in logs and nowhere else.
    static let givenSource = "upload:"

    private static func texts(
        _ element: JSONValue, _ index: Int, _ place: String
    ) throws(APIError) -> (name: String, text: String, isQuery: Bool) {
        if case .string(let query) = element { return (String(index), query, true) }
        let members = try JSONBody.members(element, place, ["name", "query", "include"])
        let isQuery = members["include"] == nil
        guard isQuery || members["query"] == nil else {
            throw .badBody(place + "/include", "Must not stand beside query.")
        }
        guard case .string(let text)? = members[isQuery ? "query" : "include"] else {
            throw .badBody(place + (isQuery ? "/query" : "/include"), "Must be a text.")
        }
        guard let name = members["name"] else { return (String(index), text, isQuery) }
        guard case .string(let given) = name else { throw .badBody(place + "/name", "Must be a text.") }
        return (given, text, isQuery)
    }

    private static func isName(_ text: String) -> Bool {
        guard 1...longestName ~= text.utf8.count, text.utf8.first != UInt8(ascii: ".") else { return false }
        return text.hasOnlyBytes { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}
