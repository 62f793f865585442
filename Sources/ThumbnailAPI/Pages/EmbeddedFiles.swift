import Crypto
import HTTPTypes
import Memory

struct EmbeddedFiles: Sendable {
    private let answers: [EmbeddedFile: StaticResponse]

    /// Prepares `files` with the `common` fields; `page` configures the page's script.
    init(_ files: [EmbeddedFile], common: CommonFields, page: PageConfiguration? = nil) {
        var answers: [EmbeddedFile: StaticResponse] = [:]
        for file in files {
            var bytes = file.bytes
            if let page, file.isPage { bytes = page.inserted(into: bytes) }
            answers[file] = StaticResponse(
                bytes, mediaType: file.mediaType, common: file.isPage ? common.page : common.strict)
        }
        self.answers = answers
    }

    func response(to request: HTTPRequest, for file: EmbeddedFile) -> HTTPResponse? {
        answers[file]?.response(to: request)
    }
}

/// The response with one file; caches may store it, but must revalidate it each time.
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
        Preconditions.answer(response, to: request.headerFields, eTag: eTag)
    }
}
