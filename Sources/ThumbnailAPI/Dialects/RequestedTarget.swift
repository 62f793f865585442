package import HTTPTypes
package import Text

/// All of a request that decides which image is asked for: what a dialect sees of it.
///
/// Also the key under which its reading is remembered, so a dialect can depend on nothing that the key lacks.
package struct RequestedTarget: Hashable, Sendable {
    /// The request target as received.
    package let target: ExactText
    /// The request's `Accept`, which counts if the target leaves the format open.
    package let accept: ExactText?

    /// A target that came with `accept`.
    package init(_ target: String, accept: String? = nil) {
        self.target = ExactText(target)
        self.accept = accept.map { ExactText($0) }
    }

    /// The target of `request`.
    package init(_ request: HTTPRequest) {
        self.init(request.target, accept: request.headerFields[.accept])
    }
}
