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
    let tracing: Tracing
    let costs: CostAccounting
    let fields: ResponseFields
    let timekeeper: any Timekeeper

    /// Returns nil if each request needs its own response: every request is logged with its ID, or the target expires.
    func recurring(
        _ thumbnail: Thumbnail, to resolved: ResolvedRequest, at route: ImageRoute, since start: Duration
    ) -> PendingResponse<Outcome>? {
        response(thumbnail, to: resolved, at: route, since: start, second: timekeeper.secondsSince1970)
            .map { .recurring($0, by: RecurringThumbnail(resolved, at: route, of: self)) }
    }

    /// Returns nil if the request must be parsed again.
    ///
    /// Within a second, the response equals `last` until an entry leaves the caches. Meanwhile the caches, which all
    /// event threads share, are not accessed, so the use of an entry is recorded only once a second.
    fileprivate func response(
        to resolved: ResolvedRequest, at route: ImageRoute, after last: DatedResponse?
    ) -> DatedResponse? {
        let start = timekeeper.now
        guard !lifecycle.isDraining, !retirement.hasHappened, costs.account?.rejection() == nil else { return nil }
        let second = timekeeper.secondsSince1970
        let cacheVersion = thumbnails.cacheVersion
        if let last, last.second == second, last.cacheVersion == cacheVersion {
            thumbnails.countRepeatedHit()
            let hit = RepeatedHit(route: route, startedAt: start, endedAt: timekeeper.now, sentBytes: last.byteCount)
            costs.record(hit)
            route.record(hit, traceID: tracing.record(hit))
            return last
        }
        guard let thumbnail = thumbnails.cachedThumbnail(for: resolved),
            let response = response(thumbnail, to: resolved, at: route, since: start, second: second)
        else { return nil }
        return DatedResponse(
            response: response, byteCount: thumbnail.image.bytes.count, second: second, cacheVersion: cacheVersion)
    }

    private func response(
        _ thumbnail: Thumbnail, to resolved: ResolvedRequest, at route: ImageRoute, since start: Duration, second: Int
    ) -> RecurringResponse? {
        guard !isLoggingAll, resolved.request.expires == nil,
            let template = template(for: thumbnail, of: resolved, written: nil)
        else { return nil }
        let hit = RepeatedHit(
            route: route, startedAt: start, endedAt: timekeeper.now, sentBytes: thumbnail.image.bytes.count)
        costs.record(hit)
        route.record(hit, traceID: nil)
        let age = thumbnail.freshness.age
        return template.response(age: age, second: second) {
            var fields = template.fields
            fields.append(.date, HTTPDate(secondsSince1970: second).imfFixdate)
            if let age { fields.append(.age, String(age)) }
            fields.append(.serverTiming, ServerTiming.ofHits)
            costs.addField(to: &fields, sentBytes: hit.sentBytes)
            return HTTPResponse(status: .ok, headerFields: fields, body: .shared(thumbnail.image.bytes))
        }
    }

    func lastingFields(
        of thumbnail: Thumbnail, for resolved: ResolvedRequest, written: WrittenResponse?
    ) -> HTTPFields {
        var lasting =
            template(for: thumbnail, of: resolved, written: written)?.fields
            ?? fields.lasting(thumbnail, to: resolved, written: written)
        if let expires = resolved.request.expires {
            lasting[.cacheControl] = fields.cacheControl(
                of: thumbnail, as: resolved.request.form, secondsLeft: expires - timekeeper.secondsSince1970)
        }
        return lasting
    }

    private func template(
        for thumbnail: Thumbnail, of resolved: ResolvedRequest, written: WrittenResponse?
    ) -> ResponseTemplate? {
        guard let slot = thumbnail.slot else { return nil }
        return ResponseTemplate.template(for: thumbnail, of: resolved.request, at: slot) {
            fields.lasting(thumbnail, to: resolved, written: written)
        }
    }
}

/// Responds with the thumbnail if it is still cached.
private final class RecurringThumbnail: RecurringResponder {
    private let resolved: ResolvedRequest
    private let route: ImageRoute
    private let responses: RepeatedResponses
    private let last = Locked<DatedResponse?>(nil)

    init(_ resolved: ResolvedRequest, at route: ImageRoute, of responses: RepeatedResponses) {
        self.resolved = resolved
        self.route = route
        self.responses = responses
    }

    /// Returns nil if the thumbnail is no longer cached and fresh, after a reload, and during a shutdown.
    func response() -> RecurringResponse? {
        let previous = last.withLock { $0 }
        let new = responses.response(to: resolved, at: route, after: previous)
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
