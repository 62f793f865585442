import Book
import Coordination
import Crypto
import Dialects
import HTTPTypes
import Memory
import Text

struct EmbeddedFiles: Sendable {
    private let responses: [EmbeddedFile: StaticResponse]
    private let common: CommonFields
    /// The page configuration of a tenant; nil for the service's configuration.
    private var page: Once<PageConfiguration>?

    /// - Parameter page: The configuration for the script of the page at `/`.
    init(_ files: [EmbeddedFile], common: CommonFields, page: PageConfiguration? = nil) {
        var responses: [EmbeddedFile: StaticResponse] = [:]
        for file in files where file.chapter == nil {
            var bytes = file.bytes
            if let page, file.isPage { bytes = page.inserted(into: bytes) }
            responses[file] = StaticResponse(
                bytes, mediaType: file.mediaType, common: file.isPage ? common.page : common.strict)
        }
        self.responses = responses
        self.common = common
    }

    /// Returns the files with the page of a tenant, which is written for each request: there may be many tenants.
    func with(_ page: Once<PageConfiguration>) -> EmbeddedFiles {
        var files = self
        files.page = page
        return files
    }

    func response(to request: HTTPRequest, for file: EmbeddedFile) -> HTTPResponse? {
        if let chapter = file.chapter { return response(to: request, for: file, chapter: chapter) }
        if let page, file.isPage {
            let bytes = page.value.inserted(into: file.bytes)
            return StaticResponse(bytes, mediaType: file.mediaType, common: common.page).response(to: request)
        }
        guard var response = responses[file]?.response(to: request) else { return nil }
        if file.mediaType == "application/yaml" {
            // Browsers save YAML to a file, but show plain text.
            if request.headerFields[.accept]?.contains("text/html") == true, response.status == .ok {
                response.headerFields[.contentType] = "text/plain; charset=utf-8"
            }
            response.headerFields.append(.vary, "Accept")
        }
        return response
    }

    /// Responds with the compressed file if the client accepts it.
    private func response(to request: HTTPRequest, for file: EmbeddedFile, chapter: BookFile) -> HTTPResponse {
        // Relative links need the root's slash.
        if file.path == EmbeddedFile.book, request.target.prefix(before: UInt8(ascii: "?")) != EmbeddedFile.book[...] {
            var fields = common.strict
            fields.append(.location, EmbeddedFile.book)
            return HTTPResponse(status: .found, headerFields: fields)
        }
        let isCompressed = HTTPSyntax.list(request.headerFields[.acceptEncoding] ?? "").contains { coding in
            HTTPSyntax.trimmed(coding.prefix(before: UInt8(ascii: ";"))) == "gzip"
                && AcceptedFormats.weight(of: coding) != 0
        }
        let compressed = chapter.gzip
        let eTag = compressed.withBytes { SHA256.hash($0) }.hexadecimal.prefix(32)
        var fields = file.isPage ? common.page : common.strict
        fields.append(.contentType, file.mediaType)
        fields.append(.cacheControl, "no-cache")
        fields.append(.vary, "Accept-Encoding")
        fields.append(.eTag, isCompressed ? "\"\(eTag)-gzip\"" : "\"\(eTag)\"")
        if isCompressed { fields.append(.contentEncoding, "gzip") }
        let body = isCompressed ? compressed : SharedBytes(chapter.bytes)
        return Preconditions.response(
            HTTPResponse(status: .ok, headerFields: fields, body: .shared(body)), to: request.headerFields,
            eTag: fields[.eTag] ?? "")
    }
}

/// A response that caches may store but must revalidate each time.
private struct StaticResponse: Sendable {
    private let response: HTTPResponse
    private let eTag: String

    init(_ bytes: [UInt8], mediaType: String, common: HTTPFields) {
        let bytes = SharedBytes(bytes)
        eTag = "\"\(bytes.withBytes { SHA256.hash($0) }.hexadecimal.prefix(32))\""
        var fields = common
        fields.append(.contentType, mediaType)
        fields.append(.eTag, eTag)
        fields.append(.cacheControl, "no-cache")
        response = HTTPResponse(status: .ok, headerFields: fields, body: .shared(bytes))
    }

    func response(to request: HTTPRequest) -> HTTPResponse {
        Preconditions.response(response, to: request.headerFields, eTag: eTag)
    }
}
