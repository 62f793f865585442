import Text

struct FetchQueue {
    private let order: DownloadConfiguration.Order
    /// Lowering it removes no fetch.
    var maximum: Int
    private var ids: [FetchID] = []

    init(order: DownloadConfiguration.Order, maximum: Int) {
        self.order = order
        self.maximum = maximum
    }

    var count: Int { ids.count }

    var hasRoom: Bool { ids.count < maximum }

    func contains(_ id: FetchID) -> Bool { ids.contains(id) }

    mutating func append(_ id: FetchID) { ids.append(id) }

    /// Ignores the limit of the queue.
    mutating func putNext(_ next: [FetchID]) {
        ids.insert(contentsOf: order == .fifo ? next : next.reversed(), at: order == .fifo ? 0 : ids.count)
    }

    mutating func remove(_ id: FetchID) { ids.removeAll { $0 == id } }

    /// Nil if there is no slot for any of them.
    mutating func popNext<Answer>(
        from fetches: [FetchID: SharedFetch<Answer>], for slots: DownloadSlots, at now: Duration
    ) -> FetchID? {
        guard slots.hasRoom, let index = nextIndex(from: fetches, for: slots, at: now) else { return nil }
        return ids.remove(at: index)
    }

    /// Prefers a host without a transfer.
    ///
    /// Under ``DownloadConfiguration/Order/lifo`` an overdue fetch comes first.
    private func nextIndex<Answer>(
        from fetches: [FetchID: SharedFetch<Answer>], for slots: DownloadSlots, at now: Duration
    ) -> Int? {
        var verdicts: [ExactText: Bool] = [:]
        func canStart(_ fetch: SharedFetch<Answer>) -> Bool {
            let decision = verdicts[fetch.host] ?? slots.hasRoom(for: fetch.host, at: now)
            verdicts[fetch.host] = decision
            return decision
        }
        let indices = order == .fifo ? Array(ids.indices) : ids.indices.reversed()
        var overdue: Int?
        var idle: Int?
        var other: Int?
        for index in indices {
            guard let fetch = fetches[ids[index]] else { return index }
            guard canStart(fetch) else { continue }
            if order == .lifo, fetch.isOverdue(at: now) { overdue = index }
            if idle == nil, slots.isIdle(fetch.host) { idle = index }
            other = other ?? index
            if order == .fifo, idle != nil { break }
        }
        return overdue ?? idle ?? other
    }
}
