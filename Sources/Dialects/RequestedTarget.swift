package import HTTPTypes
package import Text
import ThumbnailTypes

/// The target and the fields of a request that determine its image.
///
/// Also the cache key of the parsed target, so parsing cannot depend on anything else.
package struct RequestedTarget: Hashable, Sendable {
    package let target: ExactText
    package let accept: ExactText?
    package private(set) var apiKey: ExactText?
    package var hints: ClientHints

    package init(_ target: String, accept: String? = nil, hints: ClientHints = ClientHints()) {
        self.target = ExactText(target)
        self.accept = accept.map { ExactText($0) }
        self.hints = hints
    }
    func with(_ text: String) -> RequestedTarget {
        text.isExactly(target.string) ? self : RequestedTarget(text, accept: accept?.string, hints: hints)
    }

    package init(_ request: HTTPRequest) {
        self.init(request.target, accept: request.headerFields[.accept])
        apiKey = request.headerFields[.apiKey].map { ExactText($0) }
    }
}
