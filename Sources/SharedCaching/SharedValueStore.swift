package import Coordination
package import Memory

/// A place shared by several instances: returns values that were stored and not removed since, or nothing.
///
/// A lookup waits for a bounded time; a write never waits, and is dropped if too many are queued. A place that is slow,
/// full, unreachable or malicious costs lookups and nothing more. Values include the generations of their sources,
/// which a removal replaces by new random ones, so a value that was begun before a removal is never found after it.
package protocol SharedValueStore: Sendable {
    var statistics: SharedStoreStatistics { get }
    var isUp: Bool { get }
    /// Whether only reads and purges are sent.
    var isReadOnly: Bool { get }

    /// Queries a value without waiting for it.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - sources: The sources that it is derived from.
    ///   - isBeginning: Whether to assign missing generations to sources, because they are about to be fetched.
    ///   - allowance: The time that the request has already waited for the place.
    ///   - finish: Called with the reply, once, on any thread; must not block.
    /// - Returns: Whether the query was sent; if not, `finish` is not called.
    func ask(
        for key: SharedKey, of sources: [SharedSource], isBeginning: Bool, allowance: WaitBudget,
        _ finish: @escaping @Sendable (SharedReply) -> Void
    ) -> Bool

    /// Checks a reply and counts its outcome; to be called once for each reply.
    ///
    /// Hashes the whole value, which takes about a millisecond for 1 MiB.
    func checked(_ reply: SharedReply) -> SharedLookUp

    /// Queues a write, performed on another thread.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: Its key.
    ///   - sources: The sources that it is derived from.
    ///   - generations: Their generations before it was begun, one per source.
    ///   - seconds: The time for which a place with little room must keep it.
    /// - Returns: Whether it was queued.
    @discardableResult
    func store(
        _ value: CacheValue, for key: SharedKey, of sources: [SharedSource], under generations: [SharedGenerations],
        seconds: Int
    ) -> Bool

    /// Begins a request for a source under a tag: no removal by the tag is missed from now on, if ``note(_:of:since:)``
    /// follows once the source is available.
    ///
    /// - Returns: The value to pass to that call; may be nil.
    func begin(_ tag: SharedTag, of source: NamedSource) -> TagBeginning?

    /// Queues a record that a source was served under a tag; repeated while it is served.
    ///
    /// These records have their own queue, and are dropped if it is full.
    func note(_ tag: SharedTag, of source: NamedSource, since beginning: TagBeginning?)

    /// Invalidates all values of sources; other instances keep their local copies.
    func forget(_ sources: [SharedSource])

    /// Invalidates all values of sources, and notifies other instances if the place can.
    ///
    /// Waits for the place for a bounded time.
    func purge(_ sources: [NamedSource]) async -> RemovalState

    /// Purges all sources requested under a tag that the place and other instances know.
    func purge(_ removal: TagRemoval) async -> RemovalState

    /// Invalidates everything, in this instance and in others.
    func purgeEverything() async -> RemovalState

    /// Learns of all earlier purges; returns whether that succeeded.
    func learnPurges() async -> Bool

    /// Accepts no more requests, and tries pending removals once more; unconfirmed ones are logged.
    func stop(timeLimit: Duration) async
}

extension SharedValueStore {
    /// Looks up a value.
    ///
    /// - Parameters:
    ///   - sources: The sources that it is derived from.
    ///   - isBeginning: Whether to assign missing generations to sources, because they are about to be fetched.
    ///   - allowance: The time that the request has already waited for the place.
    package func value(
        for key: SharedKey, of sources: [SharedSource], isBeginning: Bool = false, allowance: WaitBudget
    ) async -> SharedLookUp {
        let answer = OneTimeResult<SharedReply?>()
        let isAsked = ask(for: key, of: sources, isBeginning: isBeginning, allowance: allowance) {
            answer.give($0)
        }
        guard isAsked, let reply = await answer.value(orIfCancelled: nil) else { return SharedLookUp() }
        return checked(reply)
    }
}

package struct SharedLookUp: Sendable {
    /// The value; nil if there is no usable one.
    package var value: CacheValue?
    /// The outcome; nil if the place was not queried.
    package var result: SharedStoreStatistics.Result?
    /// The current generations, one per source; nil if they are unknown.
    package var generations: [SharedGenerations]?
}

/// An unchecked reply of the place.
package struct SharedReply: Sendable {
    /// The generation of everything, the generations of the sources, and the value.
    let answer: TierRead.Answer
    let key: SharedKey
    let sourceCount: Int

    /// The size of the value in bytes; 0 if there is none.
    package var byteCount: Int {
        if case .values(let values) = answer { values.last.flatMap { $0?.count } ?? 0 } else { 0 }
    }

    /// Returns the value if an instance with this seal wrote it, under the current generations.
    func judged(by seal: SharedSeal) -> SharedLookUp {
        let values: [SharedBytes?]
        switch answer {
        case .values(let found): values = found
        case .timeout: return SharedLookUp(result: .timeout)
        case .failed: return SharedLookUp(result: .error)
        }
        guard values.count == sourceCount + 2 else { return SharedLookUp(result: .rejected) }
        let generations = values.dropLast().map { bytes in
            bytes.flatMap { $0.count == Generation.length ? Generation($0.array) : nil }
        }
        let known = generations.compactMap(\.self)
        guard known.count == generations.count else {
            return SharedLookUp(result: .miss)
        }
        let current = known.dropFirst().map { SharedGenerations(everything: known[0], source: $0) }
        guard let bytes = values.last.flatMap(\.self) else { return SharedLookUp(result: .miss, generations: current) }
        switch CacheValue.read(bytes, under: key, generations: known, seal) {
        case .value(let value): return SharedLookUp(value: value, result: .hit, generations: current)
        case .outdated: return SharedLookUp(result: .miss, generations: current)
        case .damaged: return SharedLookUp(result: .rejected, generations: current)
        }
    }
}
