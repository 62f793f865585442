import Coordination
import Text

struct FetchQueue {
    private let order: DownloadConfiguration.Order
    /// The maximum length; lowering it removes no fetches.
    var maximum: Int
    private var ids: [FetchID] = []

    init(order: DownloadConfiguration.Order, maximum: Int) {
        self.order = order
        self.maximum = maximum
    }

    var count: Int { ids.count }

    /// Whether the queue accepts the fetch: a tenant may queue its weight times the free entries.
    func accepts<Continuation>(
        _ fetch: SharedFetch<Continuation>, among fetches: [FetchID: SharedFetch<Continuation>]
    ) -> Bool {
        guard let flow = fetch.request.flow else { return ids.count < maximum }
        let flowCount = ids.count { fetches[$0]?.request.flow?.id == flow.id }
        return flow.mayTake(used: flowCount, free: maximum - ids.count, ratio: 1)
    }

    func contains(_ id: FetchID) -> Bool { ids.contains(id) }

    mutating func append(_ id: FetchID) { ids.append(id) }

    /// Puts fetches at the head of the queue, even if it is full.
    mutating func prepend(_ next: [FetchID]) {
        ids.insert(contentsOf: order == .fifo ? next : next.reversed(), at: order == .fifo ? 0 : ids.count)
    }

    mutating func remove(_ id: FetchID) { ids.removeAll { $0 == id } }

    /// Removes and returns the next fetch that can get a slot; nil if there is none.
    mutating func popNext<Continuation>(
        from fetches: [FetchID: SharedFetch<Continuation>], for slots: DownloadSlots, at now: Duration
    ) -> FetchID? {
        guard slots.hasFreeSlot, let index = nextIndex(from: fetches, for: slots, at: now) else { return nil }
        return ids.remove(at: index)
    }

    /// Prefers the tenant with the fewest transfers relative to its weight, then a host without a transfer.
    ///
    /// Under ``DownloadConfiguration/Order/lifo`` an overdue fetch comes first.
    private func nextIndex<Continuation>(
        from fetches: [FetchID: SharedFetch<Continuation>], for slots: DownloadSlots, at now: Duration
    ) -> Int? {
        var freeSlots = FreeSlots(slots: slots, now: now)
        var candidates: [Flow.ID?: Candidates] = [:]
        let indices = order == .fifo ? Array(ids.indices) : ids.indices.reversed()
        for index in indices {
            guard let fetch = fetches[ids[index]] else { return index }
            let flow = fetch.request.flow
            if order == .fifo, candidates[flow?.id]?.idle != nil { continue }
            guard freeSlots.contain(fetch.host, of: flow) else { continue }
            var candidate = candidates[flow?.id] ?? Candidates(load: flow.map { slots.load(of: $0) } ?? 0)
            if order == .lifo, fetch.isOverdue(at: now) { candidate.overdue = index }
            if candidate.idle == nil, slots.isIdle(fetch.host) { candidate.idle = index }
            candidate.other = candidate.other ?? index
            candidates[flow?.id] = candidate
            if order == .fifo, flow == nil, candidate.idle != nil { break }
        }
        let lowest = candidates.values.map(\.load).min()
        let best = candidates.values.filter { $0.load == lowest }
        // Among tenants with equal loads, choose the one whose fetch is next in order.
        return order == .fifo ? best.compactMap(\.first).min() : best.compactMap(\.first).max()
    }

    /// Whether hosts have free slots, each checked once.
    private struct FreeSlots {
        private struct Key: Hashable {
            let host: ExactText
            let flow: Flow?
        }

        let slots: DownloadSlots
        let now: Duration
        private var known: [Key: Bool] = [:]

        init(slots: DownloadSlots, now: Duration) {
            self.slots = slots
            self.now = now
        }

        mutating func contain(_ host: ExactText, of flow: Flow?) -> Bool {
            let key = Key(host: host, flow: flow)
            let isFree = known[key] ?? slots.hasFreeSlot(for: host, of: flow, at: now)
            known[key] = isFree
            return isFree
        }
    }

    /// The fetches of one tenant that can start.
    private struct Candidates {
        let load: Double
        var overdue: Int?
        var idle: Int?
        var other: Int?

        var first: Int? { overdue ?? idle ?? other }
    }
}
