/// The purges that this instance knows of, so that each is done once, and a log that was lost can be written again: a plain value.
struct PurgeMemory {
    private var notices: [Generation: PurgeNotice] = [:]
    private var order: [Generation] = []

    /// Purges that the log keeps, and each instance as well.
    static let capacity = 4_096

    /// Notes a purge; false if it was known.
    mutating func note(_ notice: PurgeNotice) -> Bool {
        guard notices.updateValue(notice, forKey: notice.id) == nil else { return false }
        order.append(notice.id)
        // Half at a time, so that the array is seldom moved.
        if order.count > Self.capacity * 3 / 2 {
            for id in order.prefix(order.count - Self.capacity) { notices[id] = nil }
            order.removeFirst(order.count - Self.capacity)
        }
        return true
    }

    /// The latest purges that are not among `ids`, in order.
    func missing(in ids: Set<Generation>) -> [PurgeNotice] {
        order.suffix(Self.capacity).filter { !ids.contains($0) }.compactMap { notices[$0] }
    }
}
