package import Coordination
import HTTPTypes
package import Text
package import ThumbnailTypes

/// The usage and limits of one tenant.
///
/// Lives as long as the service, even if a reload removes the tenant.
package final class TenantAccount: Sendable {
    package struct Limits: Hashable, Sendable {
        package var rate: Quota?
        /// Nanoseconds of CPU time.
        package var processorTime: Quota?
        package var originBytes: Quota?
        /// The tenant's weight in fair queues; nil without other tenants.
        package var weight: Int?

        package init(weight: Int? = nil) { self.weight = weight }
    }

    private struct State {
        var limits = Limits()
        var rate: TokenBucket?
        var processor: SlidingWindow?
        var origin: SlidingWindow?
        var history = TenantHistory()
    }

    package let name: ExactText
    /// The number, from 1; nil for the default tenant.
    let number: Int?
    private let timekeeper: any Timekeeper
    private let state = Locked(State())

    package init(_ name: ExactText, number: Int? = nil, timekeeper: any Timekeeper) {
        self.name = name
        self.number = number
        self.timekeeper = timekeeper
    }

    var weight: Int? { state.withLock { $0.limits.weight } }

    /// The flow of all the tenant's work; nil if each client has a flow.
    var flow: Flow? { number.map { .tenant($0, weight: weight ?? 1) } }

    /// Replaces the limits; unchanged limits keep their usage.
    package func setLimits(_ limits: Limits) {
        let now = timekeeper.now
        state.withLock { state in
            if limits.rate != state.limits.rate { state.rate = limits.rate.map { TokenBucket($0, at: now) } }
            if limits.processorTime != state.limits.processorTime {
                state.processor = limits.processorTime.map { SlidingWindow($0) }
            }
            if limits.originBytes != state.limits.originBytes {
                state.origin = limits.originBytes.map { SlidingWindow($0) }
            }
            state.limits = limits
        }
    }

    /// Counts a request against `rate`; returns the error if it exceeds the rate.
    package func rejection() -> TenantRejection? {
        let now = timekeeper.now
        return state.withLock { state in
            guard let quota = state.limits.rate, let wait = state.rate?.take(at: now) else { return nil }
            return TenantRejection(.rate, quota: quota, wait: wait)
        }
    }

    /// The error if `processorTime` or `originBytes` is used up.
    package func workRejection() -> TenantRejection? {
        let now = timekeeper.now
        return state.withLock { state in
            if let quota = state.limits.processorTime, let wait = state.processor?.wait(at: now) {
                return TenantRejection(.processorTime, quota: quota, wait: wait)
            }
            if let quota = state.limits.originBytes, let wait = state.origin?.wait(at: now) {
                return TenantRejection(.originBytes, quota: quota, wait: wait)
            }
            return nil
        }
    }

    /// Charges work as it is done, even if its request later fails.
    package func charge(processor: Duration = .zero, originBytes: Int = 0, sentBytes: Int = 0) {
        let now = timekeeper.now
        var use = TenantUse()
        use.processor = processor
        use.originBytes = originBytes
        use.sentBytes = sentBytes
        state.withLock { [use] state in
            if processor > .zero { state.processor?.add(Int(processor.nanoseconds), at: now) }
            if originBytes > 0 { state.origin?.add(originBytes, at: now) }
            state.history.record(use, at: now)
        }
    }

    /// - Parameter code: The error code; nil for success.
    package func record(cache: CacheUse?, code: ErrorCode?, sentBytes: Int) {
        let now = timekeeper.now
        var use = TenantUse()
        use.countRequest(cache)
        use.sentBytes = sentBytes
        if let code { use.refusals[code] = 1 }
        state.withLock { [use] in $0.history.record(use, at: now) }
    }

    /// The usage since the start, and in the last minute, hour and day.
    package var history: TenantHistory {
        let now = timekeeper.now
        return state.withLock { state in
            state.history.forget(before: now)
            return state.history
        }
    }
}

/// A request or its work exceeds a limit of the tenant.
package struct TenantRejection: ServiceError {
    enum Limit: String, Sendable {
        case rate, processorTime, originBytes
    }

    private let limit: Limit
    private let quota: Quota
    private let wait: Duration

    init(_ limit: Limit, quota: Quota, wait: Duration) {
        self.limit = limit
        self.quota = quota
        self.wait = wait
    }

    private var seconds: Int { max(1, Int(wait.seconds.rounded(.up))) }

    package var response: ErrorResponse {
        var response = ErrorResponse(
            .tooManyRequests, code: limit == .rate ? .rateLimited : .quotaExceeded, category: .policy,
            message: limit == .rate
                ? "Rate limit exceeded; try again later."
                : "This tenant has used its \(limit.rawValue); cached images are still served.",
            detail: limit.rawValue, retryAfter: seconds)
        // Integers in structured fields have at most 15 digits, so CPU time is sent in seconds.
        let amount = limit == .processorTime ? max(1, quota.amount / 1_000_000_000) : quota.amount
        let window = max(1, Int(quota.window.seconds))
        response.rateLimit = .init(
            current: "\"\(limit.rawValue)\";r=0;t=\(seconds)", policy: "\"\(limit.rawValue)\";q=\(amount);w=\(window)")
        return response
    }
}
