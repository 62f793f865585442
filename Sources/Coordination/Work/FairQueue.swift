/// Decides whether work runs, waits or is rejected; a plain value.
///
/// Each piece of work has an estimated cost in time. Measured times scale the costs, and thus the estimated waits, to
/// this machine.
///
/// Flows, such as clients and tenants, take turns by cost relative to their weights: start-time fair queueing (Goyal,
/// Vin and Cheng, 1996). A flow that fills the queue delays others by little more than the running work, and loses
/// entries of a full queue to them. Work of one flow keeps its order.
struct FairQueue<Continuation> {
    typealias ID = UInt64

    enum Admission {
        /// The entrant runs until it calls `finish`.
        case runs
        /// The entrant waits; its continuation is stored until it may run.
        case waits
        /// The entrant waits, and the work with this continuation, from the longest flow, is removed from the queue.
        case replaces(Continuation)
        /// The entrant would have waited for this time.
        case rejected(Duration)
    }

    private struct Waiter {
        let id: ID
        let flow: Flow.ID
        let cost: Duration
        let since: Duration
        /// The cost divided by the flow's weight.
        let charge: Duration
        /// The start tag: the cost of the flow before this work, in virtual time.
        let startTag: Duration
        let continuation: Continuation
    }

    private struct RunningWork {
        let flow: Flow.ID
        let cost: Duration
        let start: Duration
    }

    /// The latest work counts for one eighth of the mean.
    private static var weight: Double { 8 }
    /// Plausible ratios of time to cost; others are clipped.
    private static var credibleRatios: ClosedRange<Double> { 0.125...8 }

    let maximumConcurrency: Int
    var maximumWaiting: Int
    /// The waiters in order of their tags.
    private var waiting: [Waiter] = []
    /// The tag of the last work that started.
    private var virtualTime = Duration.zero
    /// The next tag of each flow, if it is after the virtual time.
    private var nextStartTags: [Flow.ID: Duration] = [:]
    private var running: [ID: RunningWork] = [:]
    private var waitingSince: Duration?
    /// The times since which tenants have waiting work.
    private var tenantWaitingSince: [Flow.ID: Duration] = [:]
    private var lastID: ID = 0
    private(set) var pace = 1.0

    init(maximumConcurrency: Int, maximumWaiting: Int) {
        precondition(
            maximumConcurrency > 0 && maximumWaiting >= 0,
            "a queue runs at least one piece of work, and its length is not negative")
        self.maximumConcurrency = maximumConcurrency
        self.maximumWaiting = maximumWaiting
    }

    var runningCount: Int { running.count }

    func runningCount(of flow: Flow) -> Int { running.values.count { $0.flow == flow.id } }

    var waitingCount: Int { waiting.count }

    func waitingCount(of flow: Flow) -> Int { waiting.count { $0.flow == flow.id } }

    mutating func newID() -> ID {
        lastID += 1
        return lastID
    }

    mutating func enter(
        _ id: ID, of flow: Flow, cost: Duration, queueTimeout: Duration?, at now: Duration, continuation: Continuation
    ) -> Admission {
        let entrant = Waiter(
            id: id, flow: flow.id, cost: cost, since: now, charge: cost / flow.weight, startTag: startTag(of: flow.id),
            continuation: continuation)
        if running.count < maximumConcurrency {
            begin(entrant, at: now)
            nextStartTags[flow.id] = entrant.startTag + entrant.charge
            return .runs
        }
        let ahead = waiting[..<insertionIndex(of: entrant.startTag)]
        let delay = delay(behind: ahead, at: now)
        if let queueTimeout, delay > queueTimeout, ahead.count >= maximumConcurrency { return .rejected(delay) }
        guard waiting.count >= maximumWaiting else {
            insert(entrant)
            return .waits
        }
        guard let other = waiterToReplace(by: entrant), let replaced = leave(other) else { return .rejected(delay) }
        insert(entrant)
        return .replaces(replaced)
    }

    private mutating func insert(_ waiter: Waiter) {
        if waiting.isEmpty { waitingSince = waiter.since }
        if waiter.flow.isTenant, tenantWaitingSince[waiter.flow] == nil {
            tenantWaitingSince[waiter.flow] = waiter.since
        }
        waiting.insert(waiter, at: insertionIndex(of: waiter.startTag))
        nextStartTags[waiter.flow] = waiter.startTag + waiter.charge
    }

    /// Returns the last waiter of the longest flow, by cost relative to its weight, if it is longer than the entrant's.
    private func waiterToReplace(by entrant: Waiter) -> ID? {
        var charges: [Flow.ID: Duration] = [:]
        for waiter in waiting { charges[waiter.flow, default: .zero] += waiter.charge }
        guard let most = charges.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }), most.key != entrant.flow,
            most.value > charges[entrant.flow, default: .zero] + entrant.charge
        else { return nil }
        return waiting.last { $0.flow == most.key }?.id
    }

    mutating func leave(_ id: ID) -> Continuation? {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
        let removed = remove(at: index)
        // Other waiters of the flow keep the next tag.
        if !waiting[index...].contains(where: { $0.flow == removed.flow }), let next = nextStartTags[removed.flow] {
            nextStartTags[removed.flow] = next - removed.charge
        }
        return removed.continuation
    }

    mutating func finish(_ id: ID, at now: Duration) -> Continuation? {
        guard let finished = running.removeValue(forKey: id) else { return nil }
        if finished.cost > .zero {
            let ratios = Self.credibleRatios
            let pace = min(max((now - finished.start) / finished.cost, ratios.lowerBound), ratios.upperBound)
            self.pace += (pace - self.pace) / Self.weight
        }
        guard !waiting.isEmpty else {
            if running.isEmpty { nextStartTags = [:] }
            return nil
        }
        let next = remove(at: 0)
        begin(next, at: now)
        return next.continuation
    }

    private mutating func remove(at index: Int) -> Waiter {
        let waiter = waiting.remove(at: index)
        if waiting.isEmpty { waitingSince = nil }
        if waiter.flow.isTenant, !waiting.contains(where: { $0.flow == waiter.flow }) {
            tenantWaitingSince[waiter.flow] = nil
        }
        return waiter
    }

    private mutating func begin(_ waiter: Waiter, at now: Duration) {
        running[waiter.id] = RunningWork(flow: waiter.flow, cost: waiter.cost, start: now)
        guard waiter.startTag > virtualTime else { return }
        virtualTime = waiter.startTag
        // Flows without recent work are removed.
        nextStartTags = nextStartTags.filter { $0.value > virtualTime }
    }

    private func startTag(of flow: Flow.ID) -> Duration { max(virtualTime, nextStartTags[flow] ?? .zero) }

    /// Returns the index behind all waiters with the same tag.
    private func insertionIndex(of startTag: Duration) -> Int {
        var first = 0
        var last = waiting.count
        while first < last {
            let middle = (first + last) / 2
            if waiting[middle].startTag <= startTag { first = middle + 1 } else { last = middle }
        }
        return first
    }

    /// Returns the waiting work; its age is the time since the queue, or a tenant's flow, last had no waiting work.
    ///
    /// - Parameter flow: The flow of the next work; nil to count all waiters.
    func backlog(of flow: Flow? = nil, at now: Duration) -> Backlog {
        let flow = flow?.id
        let ahead = waiting[..<(flow.map { insertionIndex(of: startTag(of: $0)) } ?? waiting.count)]
        let since = if let flow, flow.isTenant { tenantWaitingSince[flow] } else { waitingSince }
        return Backlog(count: ahead.count, delay: delay(behind: ahead, at: now), age: since.map { now - $0 } ?? .zero)
    }

    /// Returns the remaining time of running and waiting work divided by the number of concurrent pieces.
    ///
    /// The result is at least the time for which the first waiter has already waited.
    private func delay(behind ahead: ArraySlice<Waiter>, at now: Duration) -> Duration {
        guard running.count >= maximumConcurrency else { return .zero }
        let remaining = running.values.reduce(Duration.zero) { $0 + max(.zero, $1.cost * pace - (now - $1.start)) }
        let cost = ahead.reduce(Duration.zero) { $0 + $1.cost }
        return max(ahead.first.map { now - $0.since } ?? .zero, (remaining + cost * pace) / maximumConcurrency)
    }
}

extension FairQueue.Admission: Equatable where Continuation: Equatable {}
