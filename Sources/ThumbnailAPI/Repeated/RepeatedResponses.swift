import Coordination
import HTTPTypes
import Memory
import Recipes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// Builds responses that are equal for all requests for a cached thumbnail, and reuses them.
///
/// Used on all event threads. See docs/decisions/014-the-hot-path.md.
struct RepeatedResponses: Sendable {
    let thumbnails: any ThumbnailLookup
    let lifecycle: ServiceLifecycle
    let retirement: Retirement
    let isLoggingAll: Bool
    let tracer: Tracer?
    let timekeeper: any Timekeeper
    let costs: CostAccounting
    let fields: ThumbnailFields

    /// Returns nil if each request needs its own response: every request is logged with its ID, or the target expires.
    func recurring(
        _ thumbnail: Thumbnail, to request: ResolvedRequest, at route: ImageRoute, since start: Duration
    ) -> PendingResponse<Outcome>? {
        response(thumbnail, to: request, at: route, since: start, second: timekeeper.secondsSince1970)
            .map { .recurring($0, by: RecurringThumbnail(request, at: route, of: self)) }
    }

    /// Returns nil if the request must be parsed again.
    ///
    /// Within a second, the response equals `last` until an entry leaves the caches. Meanwhile the caches, which all
    /// event threads share, are not accessed, so the use of an entry is recorded only once a second.
    fileprivate func response(
        to request: ResolvedRequest, at route: ImageRoute, after last: DatedResponse?
    ) -> DatedResponse? {
        let start = timekeeper.now
        guard !lifecycle.isDraining, !retirement.hasHappened, costs.account?.rejection() == nil else { return nil }
        let second = timekeeper.secondsSince1970
        let cacheVersion = thumbnails.cacheVersion
        if let last, last.second == second, last.cacheVersion == cacheVersion {
            thumbnails.countRepeatedHit()
            costs.account?.record(cache: .hit, code: nil, sentBytes: last.byteCount)
            let now = timekeeper.now
            let trace = tracer?.beginIfSampled()
            route.recordHit(seconds: (now - start).seconds, traceID: trace?.recordedID)
            trace?.finish(
                .client(.images(route)), method: .get, id: nil, status: HTTPResponse.Status.ok.code, error: nil,
                time: start..<max(start, now))
            return last
        }
        guard let thumbnail = thumbnails.cachedThumbnail(for: request),
            let response = response(thumbnail, to: request, at: route, since: start, second: second)
        else { return nil }
        return DatedResponse(
            response: response, byteCount: thumbnail.image.bytes.count, second: second, cacheVersion: cacheVersion)
    }

    private func response(
        _ thumbnail: Thumbnail, to request: ResolvedRequest, at route: ImageRoute, since start: Duration, second: Int
    ) -> RecurringResponse? {
        guard !isLoggingAll, request.request.expires == nil, let template = template(for: thumbnail, of: request) else {
            return nil
        }
        route.recordHit(seconds: (timekeeper.now - start).seconds)
        let byteCount = thumbnail.image.bytes.count
        costs.account?.record(cache: .hit, code: nil, sentBytes: byteCount)
        let age = thumbnail.freshness.age
        return template.response(age: age, second: second) {
            var fields = template.fields
            fields.append(.date, HTTPDate(secondsSince1970: second).imfFixdate)
            if let age { fields.append(.age, String(age)) }
            fields.append(.serverTiming, ServerTiming.ofHits)
            if costs.isShown { fields.append(.alulaCost, RequestCosts.text(nil, sentBytes: byteCount)) }
            return HTTPResponse(status: .ok, headerFields: fields, body: .shared(thumbnail.image.bytes))
        }
    }

    func lastingFields(of thumbnail: Thumbnail, for request: ResolvedRequest) -> HTTPFields {
        var lasting = template(for: thumbnail, of: request)?.fields ?? fields.lasting(thumbnail, to: request)
        if let expires = request.request.expires {
            lasting[.cacheControl] = fields.cacheControl(
                of: thumbnail, as: request.request.form, secondsLeft: expires - timekeeper.secondsSince1970)
        }
        return lasting
    }

    private func template(for thumbnail: Thumbnail, of request: ResolvedRequest) -> ResponseTemplate? {
        guard let slot = thumbnail.slot else { return nil }
        return ResponseTemplate.template(for: thumbnail, of: request.request, at: slot) {
            fields.lasting(thumbnail, to: request)
        }
    }
}

/// Responds with the thumbnail if it is still cached.
private final class RecurringThumbnail: RecurringResponder {
    private let request: ResolvedRequest
    private let route: ImageRoute
    private let responses: RepeatedResponses
    private let last = Locked<DatedResponse?>(nil)

    init(_ request: ResolvedRequest, at route: ImageRoute, of responses: RepeatedResponses) {
        self.request = request
        self.route = route
        self.responses = responses
    }

    /// Returns nil if the thumbnail is no longer cached and fresh, after a reload, and during a shutdown.
    func response() -> RecurringResponse? {
        let previous = last.withLock { $0 }
        let new = responses.response(to: request, at: route, after: previous)
        if new?.second != previous?.second || new?.cacheVersion != previous?.cacheVersion { last.withLock { $0 = new } }
        return new?.response
    }
}

private struct DatedResponse {
    let response: RecurringResponse
    let byteCount: Int
    let second: Int
    /// The value of ``ThumbnailLookup/cacheVersion`` before the response was built.
    let cacheVersion: Int
}
