import Crypto
import HTTPTypes
import Memory

/// The embedded files of one listener, ready to be answered.
struct EmbeddedFiles: Sendable {
    private let answers: [EmbeddedFile: StaticAnswer]

    /// The `files`, answered with the `common` fields; `page` is what the page tells its script.
    init(_ files: [EmbeddedFile], common: CommonFields, page: PageConfiguration? = nil) {
        var answers: [EmbeddedFile: StaticAnswer] = [:]
        for file in files {
            var bytes = file.bytes
            if let page, file.isPage { bytes = page.inserted(into: bytes) }
            answers[file] = StaticAnswer(
                bytes, mediaType: file.mediaType, common: file.isPage ? common.page : common.strict)
        }
        self.answers = answers
    }

    /// The answer to a GET or HEAD for `file`; nil if the listener does not have it.
    func response(to request: HTTPRequest, for file: EmbeddedFile) -> HTTPResponse? {
        answers[file]?.response(to: request)
    }
}

/// The answer with one file; caches may keep it, and ask each time whether it is still the same.
private struct StaticAnswer: Sendable {
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
