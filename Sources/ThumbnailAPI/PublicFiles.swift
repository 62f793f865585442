import Crypto
import HTTPTypes
import Memory

/// The files that are part of the program: the interface description, and the page with its style and script.
struct PublicFiles: Sendable {
    private let document: StaticFile
    private let page: StaticFile
    private let pageStyle: StaticFile
    private let pageScript: StaticFile

    /// The files, answered with the `common` fields.
    init(common: CommonFields) {
        document = StaticFile(PackageResources.openapi_yaml, mediaType: "application/yaml", common: common.strict)
        page = StaticFile(PackageResources.page_html, mediaType: "text/html; charset=utf-8", common: common.page)
        pageStyle = StaticFile(PackageResources.page_css, mediaType: "text/css; charset=utf-8", common: common.strict)
        pageScript = StaticFile(
            PackageResources.page_js, mediaType: "text/javascript; charset=utf-8", common: common.strict)
    }

    /// The answer to a request for the file at `route`; nil if no file is there.
    func response(to request: HTTPRequest, at route: PublicRoute) -> HTTPResponse? {
        switch route {
        case .document: document.response(to: request)
        case .page: page.response(to: request)
        case .pageStyle: pageStyle.response(to: request)
        case .pageScript: pageScript.response(to: request)
        case .images, .renditions, .live, .ready, .none: nil
        }
    }
}

/// One file; caches may keep it, and ask each time whether it is still the same.
private struct StaticFile: Sendable {
    private let bytes: SharedBytes
    private let fields: HTTPFields
    private let eTag: String

    init(_ bytes: [UInt8], mediaType: String, common: HTTPFields) {
        self.bytes = SharedBytes(bytes)
        eTag = "\"\(self.bytes.withBytes { SHA256.hash($0) }.hexadecimal.prefix(32))\""
        var fields = common
        fields.append(.contentType, mediaType)
        fields.append(.eTag, eTag)
        fields.append(.cacheControl, "no-cache")
        self.fields = fields
    }

    func response(to request: HTTPRequest) -> HTTPResponse {
        Preconditions.answer(
            HTTPResponse(status: .ok, headerFields: fields, body: .shared(bytes)), to: request.headerFields, eTag: eTag)
    }
}
