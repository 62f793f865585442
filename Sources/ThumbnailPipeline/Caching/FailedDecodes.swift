import Coordination
import Downloading
import Recipes

/// Remembers recent decode failures, so that a broken image is not fetched and decoded again for every request.
///
/// A failure applies to one decode plan: a file with a truncated last frame can still show its first. It is dropped
/// when it expires, when a decode succeeds, when the source changes, and when an operator purges the source.
final class FailedDecodes: Sendable {
    /// A point in time: work that began before a purge must not record its failure after the purge.
    struct Checkpoint {
        fileprivate let removals: Int
    }

    private struct Entry {
        let head: SourceHead
        /// The record of the source; nil if the image header was unreadable.
        let record: SourceRecord?
        var failures: [DecodePlan?: ImagingError]

        var byteCount: Int { head.identity.byteCount + (record?.cost ?? head.byteCount) + failures.count * 512 + 512 }
    }

    /// The limit per source, because clients can request any number of plans.
    private static let maximumFailures = 16

    private struct State {
        var memory: BoundedMap<FetchedTarget, Entry>
        var removals = 0
    }

    private let timeLimit: Duration
    private let timekeeper: any Timekeeper
    private let state: Locked<State>

    init(timeLimit: Duration, capacity: Int = 4_096, maximumBytes: Int = 8 << 20, timekeeper: any Timekeeper) {
        self.timeLimit = timeLimit
        self.timekeeper = timekeeper
        state = Locked(State(memory: BoundedMap(maximumCount: capacity, maximumWeight: maximumBytes)))
    }

    var checkpoint: Checkpoint { state.withLock { Checkpoint(removals: $0.removals) } }

    func failure(
        of identity: SourceIdentity, stored: SourceRecord?, plan: (SourceRecord) -> DecodePlan?
    ) -> ImagingError? {
        guard let entry = state.withLock({ $0.memory.peek(FetchedTarget(identity), at: timekeeper.now) }),
            stored == nil || stored?.validator == entry.head.validator
        else { return nil }
        guard let record = entry.record else { return entry.failures[nil] }
        return plan(record).flatMap { entry.failures[$0] }
    }

    func remember(_ error: ImagingError, of head: SourceHead, since checkpoint: Checkpoint) {
        remember(error, plan: nil, in: Entry(head: head, record: nil, failures: [:]), since: checkpoint)
    }

    func remember(_ error: ImagingError, of plan: DecodePlan, in record: SourceRecord, since checkpoint: Checkpoint) {
        remember(error, plan: plan, in: Entry(head: record.head, record: record, failures: [:]), since: checkpoint)
    }

    func forget(_ plan: DecodePlan, of identity: SourceIdentity) {
        state.withLock { $0.memory.modify(FetchedTarget(identity)) { $0.failures[plan] = nil } }
    }

    func forget(_ identity: SourceIdentity?) {
        state.withLock { state in
            state.removals += 1
            if let identity {
                state.memory.removeAll { identity.matches($0.key.identity) }
            } else {
                state.memory.removeAll()
            }
        }
    }

    private func remember(_ error: ImagingError, plan: DecodePlan?, in entry: Entry, since checkpoint: Checkpoint) {
        let head = entry.head
        guard error.isFaultOfSource, head.freshness.storability.isStorable else { return }
        let remaining = head.freshness.remainingLifetime(at: timekeeper.secondsSince1970)
        let time = head.freshness.isLifetimeKnown ? min(timeLimit, .seconds(remaining)) : timeLimit
        let now = timekeeper.now
        let target = FetchedTarget(head.identity)
        state.withLock { state in
            guard state.removals == checkpoint.removals else { return }
            var entry = entry
            if let stored = state.memory.peek(target, at: now), stored.head.validator == head.validator {
                entry.failures = stored.failures
            }
            if entry.failures.count >= Self.maximumFailures, entry.failures[plan] == nil { entry.failures = [:] }
            entry.failures[plan] = error
            state.memory.insert(entry, for: target, weight: entry.byteCount, until: now + time)
        }
    }
}

extension ImagingError {
    /// Whether the source's bytes are at fault, rather than a limit, a setting or the request.
    var isFaultOfSource: Bool {
        switch self {
        case .notAnImage, .cannotDecode, .unsupported: true
        case .formatNotAccepted, .tooManyPixels, .tooMuchWork, .sideTooLong, .noSuchPage, .frameTooLate, .cropOutside,
            .encodeFailed,
            .outOfMemory, .ofAddition:
            false
        }
    }
}

extension DecodePlan {
    /// Whether the plan decodes only the first page; if that fails, the source is useless.
    var isFirstPage: Bool { page == 0 && !isAnimated }
}
