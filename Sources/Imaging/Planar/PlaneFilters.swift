import Coordination

/// Filters that were computed before, for all workers; when they are too many all are forgotten.
///
/// To compute the filters for a size takes longer than to apply them to a small picture.
final class PlaneFilters: Sendable {
    /// Those of the process.
    static let shared = PlaneFilters(capacity: 16 << 20)

    private struct State {
        var filters: [PlaneResampling: PlaneFilter] = [:]
        var byteCount = 0
    }

    private let capacity: Int
    private let state = Locked(State())

    /// Room for filters of `capacity` bytes.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The filter for `resampling`, computed if it is not here; nil where zimg refuses.
    func filter(for resampling: PlaneResampling) -> PlaneFilter? {
        if let known = state.withLock({ $0.filters[resampling] }) { return known }
        guard let filter = PlaneFilter(resampling) else { return nil }
        let forgotten = state.withLock { state -> [PlaneResampling: PlaneFilter] in
            let isFull = state.byteCount + filter.byteCount > capacity
            let forgotten = isFull ? state.filters : [:]
            if isFull { state = State() }
            // Of two that were computed at once the later one stays.
            if state.filters.updateValue(filter, forKey: resampling) == nil { state.byteCount += filter.byteCount }
            return forgotten
        }
        // Released here, outside the lock.
        _ = consume forgotten
        return filter
    }
}
