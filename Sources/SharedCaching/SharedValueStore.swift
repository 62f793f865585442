package import Coordination
import Memory

/// A place that several instances share: it returns what was stored and not removed since, or nothing.
///
/// A look-up waits for a bounded time, a write for nothing: it is dropped if too much waits. If the place is slow,
/// full, gone or lying, that costs look-ups and nothing more. Values carry the generations of their sources, which a
/// removal replaces by new random ones, so a value that was begun before a removal is never found after it.
package protocol SharedValueStore: Sendable {
    /// State and counts at this moment.
    var statistics: SharedStoreStatistics { get }
    /// Whether the place is in use.
    var isUp: Bool { get }
    /// Whether only reads and purges are sent.
    var isReadOnly: Bool { get }

    /// Asks for a value without waiting for it.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - sources: The sources that it is made from.
    ///   - isBeginning: Whether sources get a generation if they have none, because they are about to be fetched.
    ///   - allowance: The time that the request has waited for the place before.
    ///   - finish: Called with the reply, once, on any thread; must not block.
    /// - Returns: Whether the place is asked; else `finish` is not called.
    func ask(
        for key: SharedKey, of sources: [SharedSource], isBeginning: Bool, allowance: WaitAllowance,
        _ finish: @escaping @Sendable (SharedReply) -> Void
    ) -> Bool

    /// Judges a reply, which is counted: to be called once for each.
    ///
    /// Hashes all of the value, which takes about a millisecond for 1 MiB.
    func checked(_ reply: SharedReply) -> SharedLookUp

    /// Writes a value, later, and not on the caller's thread.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: Its key.
    ///   - sources: The sources that it is made from.
    ///   - generations: The generations that they had before it was begun, one for each.
    ///   - seconds: How long a place of little room needs to keep it.
    /// - Returns: Whether it will be tried.
    @discardableResult
    func store(
        _ value: SharedValue, for key: SharedKey, of sources: [SharedSource], under generations: [SharedGenerations],
        seconds: Int
    ) -> Bool

    /// Begins a request for a source under a tag: from now on no removal by the tag is missed, if ``note(_:of:since:)``
    /// follows once the source is there.
    ///
    /// - Returns: The value to pass to that call; nil for none.
    func begin(_ tag: SharedTag, of source: NamedSource) -> TagBeginning?

    /// Notes, later, that a source was served under a tag; repeated for as long as it is.
    ///
    /// Notes wait in a queue of their own, and are dropped if that is full.
    func note(_ tag: SharedTag, of source: NamedSource, since beginning: TagBeginning?)

    /// Makes all that was written about sources unreadable; other instances keep what they have.
    func forget(_ sources: [SharedSource])

    /// Makes all that was written about sources unreadable, and tells other instances if the place can.
    ///
    /// Waits for the place for a bounded time.
    func purge(_ sources: [NamedSource]) async -> RemovalState

    /// The same for all sources that were asked for under a tag, as far as the place and other instances know.
    func purge(_ removal: TagRemoval) async -> RemovalState

    /// Makes everything unreadable, in this instance and in others.
    func purgeEverything() async -> RemovalState

    /// Learns of all purges that were made before this call; returns whether that could be done.
    func learnPurges() async -> Bool

    /// Takes no more requests, and tries once more to do what is to be removed; the log tells what is not confirmed.
    func stop(timeLimit: Duration) async
}

extension SharedValueStore {
    /// Looks for a value.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - sources: The sources that it is made from.
    ///   - isBeginning: Whether sources get a generation if they have none, because they are about to be fetched.
    ///   - allowance: The time that the request has waited for the place before.
    package func value(
        for key: SharedKey, of sources: [SharedSource], isBeginning: Bool = false, allowance: WaitAllowance
    ) async -> SharedLookUp {
        let answer = FirstAnswer<SharedReply?>()
        let isAsked = ask(for: key, of: sources, isBeginning: isBeginning, allowance: allowance) {
            answer.give($0)
        }
        guard isAsked, let reply = await answer.value(orIfCancelled: nil) else { return SharedLookUp() }
        return checked(reply)
    }
}

/// The result of a look-up.
package struct SharedLookUp: Sendable {
    /// The value; nil if there is none that may be used.
    package var value: SharedValue?
    /// How it ended; nil if the place was not asked.
    package var result: SharedStoreStatistics.Result?
    /// The generations now, one for each source; nil if they are not known.
    package var generations: [SharedGenerations]?
}

/// A reply of the place, which nothing is known of before it is checked.
package struct SharedReply: Sendable {
    /// The generation of everything, those of the sources, and the value.
    let answer: TierRead.Answer
    let key: SharedKey
    let sourceCount: Int

    /// Bytes of the value; 0 if there is none.
    package var byteCount: Int {
        if case .values(let values) = answer { values.last.flatMap { $0?.count } ?? 0 } else { 0 }
    }

    /// The value, if it is as an instance with this seal wrote it, and under the generations of now.
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
        switch SharedValue.read(bytes, under: key, generations: known, seal) {
        case .value(let value): return SharedLookUp(value: value, result: .hit, generations: current)
        case .outdated: return SharedLookUp(result: .miss, generations: current)
        case .damaged: return SharedLookUp(result: .rejected, generations: current)
        }
    }
}
