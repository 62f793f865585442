import Coordination
import Text

/// Remembers targets that were read and whose signature was judged, so that a hot URL is parsed once.
///
/// Only valid targets get here; whether one has expired is no part of what is remembered. Two generations bound it: when the
/// young one is full the old one is dropped whole, and what is found in the old one moves to the young one.
/// Used on all event threads.
final class PreparedQueries: Sendable {
    private struct State {
        var young: [RequestedTarget: PreparedQuery] = [:]
        var old: [RequestedTarget: PreparedQuery] = [:]
        var youngBytes = 0
    }

    private let maximumEntries: Int
    private let maximumBytes: Int
    private let state = Locked(State())

    /// Remembers at most twice `maximumEntries` targets, and about twice `maximumBytes` of them.
    init(maximumEntries: Int = 4_096, maximumBytes: Int = 2 << 20) {
        self.maximumEntries = maximumEntries
        self.maximumBytes = maximumBytes
    }

    /// How many are remembered.
    var count: Int { state.withLock { $0.young.count + $0.old.count } }

    /// What was remembered for this very target and `Accept`, else what `prepare` makes.
    func query(
        for key: RequestedTarget, prepare: () throws(APIError) -> PreparedQuery
    ) throws(APIError) -> PreparedQuery {
        let known = state.withLock { state -> PreparedQuery? in
            if let entry = state.young[key] { return entry }
            guard let entry = state.old[key] else { return nil }
            insert(entry, for: key, into: &state)
            return entry
        }
        if let known { return known }
        let made = try prepare()
        state.withLock { insert(made, for: key, into: &$0) }
        return made
    }

    private func insert(_ entry: PreparedQuery, for key: RequestedTarget, into state: inout State) {
        // The source, the file's name and the answer's fields repeat parts of the target.
        let bytes = 4 * key.target.utf8.count + (key.accept?.utf8.count ?? 0) + 1_024
        if state.young.count >= maximumEntries || state.youngBytes + bytes > maximumBytes {
            state.old = state.young
            state.young = [:]
            state.youngBytes = 0
        }
        if state.young.updateValue(entry, forKey: key) == nil { state.youngBytes += bytes }
    }
}
