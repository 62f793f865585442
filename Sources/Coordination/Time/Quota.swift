package struct Quota: Hashable, Sendable {
    package let amount: Int
    package let window: Duration

    package init(_ amount: Int, per window: Duration) {
        precondition(amount > 0 && window > .zero, "a quota allows at least one use in a positive time")
        self.amount = amount
        self.window = window
    }
}

/// A token bucket with the rate of a quota and a burst of one second, at least one token.
package struct TokenBucket: Sendable {
    private let perSecond: Double
    private let capacity: Double
    private var tokens: Double
    private var time: Duration

    package init(_ quota: Quota, at now: Duration) {
        perSecond = Double(quota.amount) / quota.window.seconds
        capacity = max(1, perSecond)
        tokens = capacity
        time = now
    }

    /// Takes a token, or returns the time until the next one.
    package mutating func take(at now: Duration) -> Duration? {
        tokens = min(capacity, tokens + max(0, (now - time).seconds) * perSecond)
        time = max(time, now)
        guard tokens >= 1 else { return .seconds((1 - tokens) / perSecond) }
        tokens -= 1
        return nil
    }
}

/// Sums the use over the window of a quota, with a precision of a twelfth of the window.
package struct SlidingWindow: Sendable {
    private static let sliceCount = 12

    package let quota: Quota
    private var slices = [Int](repeating: 0, count: sliceCount)
    /// The number of the latest slice since the clock's start.
    private var latest = 0

    package init(_ quota: Quota) { self.quota = quota }

    package mutating func add(_ amount: Int, at now: Duration) {
        advance(to: now)
        slices[latest % Self.sliceCount] += amount
    }

    /// The time until the use falls below the quota; nil if it is already below.
    package mutating func wait(at now: Duration) -> Duration? {
        advance(to: now)
        var used = slices.reduce(0, +)
        guard used >= quota.amount else { return nil }
        // The oldest slice leaves the window first.
        for age in 1...Self.sliceCount {
            used -= slices[(latest + age) % Self.sliceCount]
            if used < quota.amount { return slice * (latest + age) - now }
        }
        return quota.window
    }

    private var slice: Duration { quota.window / Self.sliceCount }

    private mutating func advance(to now: Duration) {
        let number = Int(now / slice)
        guard number > latest else { return }
        for passed in (max(latest, number - Self.sliceCount) + 1)...number { slices[passed % Self.sliceCount] = 0 }
        latest = number
    }
}
