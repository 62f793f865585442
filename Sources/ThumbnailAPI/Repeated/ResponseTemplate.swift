import Coordination
import HTTPTypes
import ThumbnailPipeline
import ThumbnailTypes

final class ResponseTemplate: Sendable {
    let fields: HTTPFields
    private let eTag: String
    private let lastModified: HTTPDate?
    private let storability: Freshness.Storability
    private let lifetime: Int?
    private let request: Request
    private let recurring = Locked<(age: Int?, second: Int, response: RecurringResponse)?>(nil)

    private init(_ thumbnail: Thumbnail, request: Request, fields: HTTPFields) {
        self.fields = HTTPFields(continuing: fields)
        eTag = thumbnail.eTag
        lastModified = thumbnail.lastModified
        storability = thumbnail.freshness.storability
        lifetime = thumbnail.freshness.lifetime
        self.request = request
    }

    /// Whether the values in the fields are unchanged; the format of a cached result never changes.
    private func fits(_ thumbnail: Thumbnail, of request: Request) -> Bool {
        eTag == thumbnail.eTag && lastModified == thumbnail.lastModified
            && storability == thumbnail.freshness.storability && lifetime == thumbnail.freshness.lifetime
            && self.request.hasSameResponse(as: request)
    }

    /// Returns the cached template; if it is missing or outdated, creates one with the fields that `make` returns.
    static func template(
        for thumbnail: Thumbnail, of request: Request, at slot: ResponseSlot, make: () -> HTTPFields
    ) -> ResponseTemplate {
        if let cached = slot.value as? ResponseTemplate, cached.fits(thumbnail, of: request) { return cached }
        let new = ResponseTemplate(thumbnail, request: request, fields: make())
        slot.set(new)
        return new
    }

    /// Returns the response to all requests within this Unix second.
    func response(age: Int?, second: Int, make: () -> HTTPResponse) -> RecurringResponse {
        let cached = recurring.withLock { $0?.age == age && $0?.second == second ? $0?.response : nil }
        if let cached { return cached }
        let made = RecurringResponse(make())
        _ = recurring.exchange((age, second, made))
        return made
    }
}
