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

    /// Whether the queue accepts the fetch: a tenant may have as many queued fetches as `share` × the free places.
    func hasRoom<Answer>(for fetch: SharedFetch<Answer>, among fetches: [FetchID: SharedFetch<Answer>]) -> Bool {
        guard let flow = fetch.request.flow else { return ids.count < maximum }
        let own = ids.count { fetches[$0]?.request.flow?.id == flow.id }
        return flow.mayTake(used: own, free: maximum - ids.count, ratio: 1)
    }

    func contains(_ id: FetchID) -> Bool { ids.contains(id) }

    mutating func append(_ id: FetchID) { ids.append(id) }

    /// Puts fetches at the head of the queue, even if it is full.
    mutating func prepend(_ next: [FetchID]) {
        ids.insert(contentsOf: order == .fifo ? next : next.reversed(), at: order == .fifo ? 0 : ids.count)
    }

    mutating func remove(_ id: FetchID) { ids.removeAll { $0 == id } }

    /// Removes and returns the next fetch that can get a slot; nil if there is none.
    mutating func popNext<Answer>(
        from fetches: [FetchID: SharedFetch<Answer>], for slots: DownloadSlots, at now: Duration
    ) -> FetchID? {
        guard slots.hasRoom, let index = nextIndex(from: fetches, for: slots, at: now) else { return nil }
        return ids.remove(at: index)
    }

    /// Prefers the tenant with the fewest transfers relative to its weight, then a host without a transfer.
    ///
    /// Under ``DownloadConfiguration/Order/lifo`` an overdue fetch comes first.
    private func nextIndex<Answer>(
        from fetches: [FetchID: SharedFetch<Answer>], for slots: DownloadSlots, at now: Duration
    ) -> Int? {
        var canStartByPlace: [Place: Bool] = [:]
        var candidates: [Int?: Candidates] = [:]
        func canStart(_ fetch: SharedFetch<Answer>) -> Bool {
            let place = Place(host: fetch.host, flow: fetch.request.flow)
            let isRoom = canStartByPlace[place] ?? slots.hasRoom(for: place.host, of: place.flow, at: now)
            canStartByPlace[place] = isRoom
            return isRoom
        }
        let indices = order == .fifo ? Array(ids.indices) : ids.indices.reversed()
        for index in indices {
            guard let fetch = fetches[ids[index]] else { return index }
            let flow = fetch.request.flow
            if order == .fifo, candidates[flow?.id]?.idle != nil { continue }
            guard canStart(fetch) else { continue }
            var own = candidates[flow?.id] ?? Candidates(load: flow.map { slots.load(of: $0) } ?? 0)
            if order == .lifo, fetch.isOverdue(at: now) { own.overdue = index }
            if own.idle == nil, slots.isIdle(fetch.host) { own.idle = index }
            own.other = own.other ?? index
            candidates[flow?.id] = own
            if order == .fifo, flow == nil, own.idle != nil { break }
        }
        let lowest = candidates.values.map(\.load).min()
        let best = candidates.values.filter { $0.load == lowest }
        // Among tenants with equal loads, choose the one whose fetch is next in order.
        return order == .fifo ? best.compactMap(\.first).min() : best.compactMap(\.first).max()
    }

    private struct Place: Hashable {
        let host: ExactText
        let flow: TenantFlow?
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
