import Crypto
import HTTPTypes
import Memory

/// A file that is part of the program.
struct StaticFile: Sendable {
    private let bytes: SharedBytes
    private let fields: HTTPFields
    private let eTag: String

    /// A file of `bytes`, answered with the `common` fields; caches may keep it and ask whether it is still the same.
    init(_ bytes: [UInt8], mediaType: String, common: HTTPFields) {
        self.bytes = SharedBytes(bytes)
        eTag = "\"\(self.bytes.withBytes { SHA256.hash($0) }.hexadecimal.prefix(32))\""
        var fields = common
        fields.append(.contentType, mediaType)
        fields.append(.eTag, eTag)
        fields.append(.cacheControl, "no-cache")
        self.fields = fields
    }

    /// The answer to `request`.
    func response(to request: HTTPRequest) -> HTTPResponse {
        guard Preconditions.isNotModified(request.headerFields, eTag: eTag, lastModified: nil) else {
            return HTTPResponse(status: .ok, headerFields: fields, body: .shared(bytes))
        }
        return HTTPResponse(
            status: .notModified, headerFields: ThumbnailFields.notModified(fields), body: .shared(bytes))
    }
}
