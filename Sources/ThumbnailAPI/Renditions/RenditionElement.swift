import Dialects
import Downloading
import HTTPTypes
import JSON
import Text
import ThumbnailPipeline

/// An element of a list: a query, or an object with a name and a query or facts; a query may have a destination.
struct RenditionElement {
    enum Content {
        /// The query of `/thumbnail`, without the source.
        case query(String)
        /// The value of `include` of `/info`.
        case include(String)
    }

    /// The name; by default the element's index.
    let name: ExactText
    let content: Content
    /// The destination `NAME:PATH`; nil to include the result in the response.
    let destination: ExactText?
    /// The `Cache-Control` of the stored result; nil uses the destination's or the result's.
    let cacheControl: String?

    /// - Parameter pointer: The element's JSON Pointer.
    init(_ element: JSONValue, index: Int, pointer: String) throws(APIError) {
        if case .string(let query) = element {
            name = ExactText(String(index))
            content = .query(query)
            destination = nil
            cacheControl = nil
            return
        }
        guard element.members != nil else { throw .badBody(pointer, "Must be a string or an object.") }
        let members = try JSONBody.members(
            of: element, at: pointer, allowing: ["name", "query", "include", "to", "cacheControl"])
        let isQuery = members["include"] == nil
        guard isQuery || members["query"] == nil else {
            throw .badBody(pointer + "/include", "Must not be used with query.")
        }
        let key = isQuery ? "query" : "include"
        guard case .string(let text)? = members[ExactText(key)] else {
            throw .badBody("\(pointer)/\(key)", "Must be a string.")
        }
        var name = String(index)
        if let value = members["name"] {
            guard case .string(let text) = value else { throw .badBody(pointer + "/name", "Must be a string.") }
            guard RenditionName.isValid(text) else {
                throw .badBody(pointer + "/name", "Must be 1 to 128 of A-Z a-z 0-9 . _ -, without a dot in front.")
            }
            name = text
        }
        self.name = ExactText(name)
        content = isQuery ? .query(text) : .include(text)
        destination = try members["to"].map { (value) throws(APIError) in
            guard isQuery else { throw .badBody(pointer + "/to", "Must not be used with include.") }
            guard case .string(let text) = value else { throw .badBody(pointer + "/to", "Must be a string.") }
            return ExactText(text)
        }
        let isPlaced = destination != nil
        cacheControl = try members["cacheControl"].map { (value) throws(APIError) in
            guard isPlaced else { throw .badBody(pointer + "/cacheControl", "Requires to.") }
            guard case .string(let text) = value, CacheControl.isValue(text) else {
                throw .badBody(pointer + "/cacheControl", "Must be a value of Cache-Control of at most 256 characters.")
            }
            return text
        }
    }

    /// - Throws: ``APIError/originNotWritable``, or ``APIError/badBody(_:_:)`` for an invalid destination.
    func checkDestination(by resultWriter: ResultWriter, pointer: String) throws(APIError) -> Destination? {
        guard let destination else { return nil }
        do throws(Destination.Rejection) {
            var resolved = try resultWriter.destination(destination)
            resolved.cacheControl = cacheControl ?? resolved.cacheControl
            return resolved
        } catch {
            guard error == .malformed else { throw .originNotWritable }
            throw .badBody(
                pointer + "/to", "Must be NAME:PATH below a named origin, without empty or dot segments, ?, # and \\.")
        }
    }
}

package enum RenditionName {
    private static let maximumLength = 128

    package static func isValid(_ text: String) -> Bool {
        guard 1...maximumLength ~= text.utf8.count, text.utf8.first != UInt8(ascii: ".") else { return false }
        return text.hasOnlyBytes { byte in
            byte.isASCIIAlphanumeric || "._-".utf8.contains(byte)
        }
    }
}
