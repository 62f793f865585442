import Dialects
import Downloading
import HTTPTypes
import JSON
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// A list of renditions: `{"url":"…","renditions":["w=300&format=webp",{"name":"hero","query":"w=1200"}]}`.
///
/// With the member `include` instead of `query`, an element requests facts as in `/info`. With `to` and `query`, it
/// stores the result.
struct RenditionList: Sendable {
    struct Rendition: Sendable {
        let name: ExactText
        let request: Result<RenditionRequest, APIError>
    }

    enum RenditionRequest: Sendable {
        case image(Request, to: Destination?)
        case facts(FactsRequest)
    }

    /// The URL of the source; nil if the file is uploaded.
    let source: String?
    let renditions: [Rendition]

    /// - Parameters:
    ///   - hasFile: Whether the request contains the file, so that the list must not name a source.
    ///   - resultWriter: Checks destinations, which require a signature.
    /// - Throws: ``APIError`` for the first error in the list. An invalid query fails only its own rendition.
    init(
        _ body: [UInt8], hasFile: Bool, fields: HTTPFields, configuration: APIConfiguration, resultWriter: ResultWriter
    ) throws(APIError) {
        let members = try JSONBody.members(
            of: try JSONBody.value(in: body), at: "", allowing: hasFile ? ["renditions"] : ["url", "renditions"])
        var source: String?
        if !hasFile {
            guard case .string(let url)? = members["url"] else { throw .badBody("/url", "Must be a string.") }
            do throws(APIError) { source = configuration.nativeDialect.source(try ParameterGrammar.source(url)) } catch
            {
                throw .badBody("/url", error.publicMessage)
            }
        }
        let elements = try JSONBody.elements(of: members, named: "renditions", at: "")
        let maximum = configuration.maximumRenditions
        guard elements.count <= maximum else {
            throw .badBody("/renditions/\(maximum)", "A call has at most \(maximum) renditions.")
        }
        var names: Set<ExactText> = []
        var locations: Set<ExactText> = []
        var renditions: [Rendition] = []
        for (index, element) in elements.enumerated() {
            let pointer = "/renditions/\(index)"
            let content = try RenditionElement(element, index: index, pointer: pointer)
            guard names.insert(content.name).inserted else {
                throw .badBody(pointer + "/name", "Another rendition has this name.")
            }
            // With keys, only signed requests get here.
            guard content.destination == nil || !configuration.keys.isEmpty else { throw .badSignature }
            let destination = Result { () throws(APIError) in
                try content.checkDestination(by: resultWriter, pointer: pointer)
            }
            if case .success(let resolved?) = destination, !locations.insert(ExactText(resolved.location)).inserted {
                throw .badBody(pointer + "/to", "Another rendition has this destination.")
            }
            let request = Result { () throws(APIError) -> RenditionRequest in
                switch content.content {
                case .query(let text):
                    let request = try configuration.rendition(
                        text, of: source ?? NativeDialect.uploadedSource, fields: fields)
                    return .image(request, to: try destination.get())
                case .include(let text):
                    return .facts(try InfoDialect.facts(options: text.isEmpty ? [] : [("include", text)]))
                }
            }
            renditions.append(Rendition(name: content.name, request: request))
        }
        self.source = source
        self.renditions = renditions
    }
}
