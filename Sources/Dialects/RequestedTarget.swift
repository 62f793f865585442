package import HTTPTypes
package import Text

/// The parts of a request that a dialect sees; they alone decide which image is requested.
///
/// Also the key under which the dialect's reading is remembered, so the reading cannot depend on anything else.
package struct RequestedTarget: Hashable, Sendable {
    /// The request target as received.
    package let target: ExactText
    /// The request's `Accept`, which counts if the target does not fix the format.
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
