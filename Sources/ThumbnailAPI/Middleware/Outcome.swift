import Dialects
import HTTPTypes
import Recipes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// A change by an operator, for the log.
struct AuditedAction: Sendable {
    let name: String
    /// The kind and value of the action's object, such as a URL, a tag or an ID.
    var subject: (kind: String, value: String)?
    var entries: Int?
    /// The failure of an action that responds with success, such as a refresh.
    var failure: (any ServiceError)?

    init(_ name: String, subject: (kind: String, value: String)? = nil) {
        self.name = name
        self.subject = subject
    }
}

/// A response, and what middleware records about it.
struct Outcome: Sendable {
    var response: HTTPResponse
    var timings: [StepTiming] = []
    /// The label for the log; nil to derive it from the request.
    var label: RequestLabel?
    /// The image that was sent or not modified.
    var image: EncodedImage?
    /// The use of the cache; nil for failures, and for responses other than images and facts.
    var cache: CacheUse?
    var error: (any ServiceError)?
    var hasReceipt = false
    var fallbackImage: FallbackImage?
    /// The costs; nil if the request took no work.
    var bill: RequestBill?
    var action: AuditedAction?
}
