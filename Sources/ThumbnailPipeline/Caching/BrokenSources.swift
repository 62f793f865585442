import Coordination
import Downloading
import Imaging

/// Remembers for a short while what could not be decoded, so that a broken image is not downloaded and decoded again
/// for every request.
///
/// A failure is remembered for one decode plan: a file whose last frame is cut short still shows its first. It is
/// forgotten after its time, which a lifetime that the origin states can shorten, after a success, with another version
/// of the source, and when an operator removes the source.
final class BrokenSources: Sendable {
    /// A moment: a failure of work that began before an operator's removal is not remembered after it.
    struct Moment {
        fileprivate let removals: Int
    }

    /// One version of a source and what of it failed.
    private struct Entry {
        let head: SourceHead
        /// Nil if not even the image's own header could be read.
        let record: SourceRecord?
        var failures: [DecodePlan?: ImagingError]

        /// Bytes of memory that it takes, roughly.
        var byteCount: Int { head.identity.byteCount + (record?.cost ?? head.byteCount) + failures.count * 512 + 512 }
    }

    /// Failures that are remembered of one version of a source; clients name as many plans as they like.
    private static let mostFailures = 16

    private struct State {
        var memory: ExpiringMemo<FetchedTarget, Entry>
        var removals = 0
    }

    private let timeLimit: Duration
    private let timekeeper: any Timekeeper
    private let state: Locked<State>

    init(timeLimit: Duration, capacity: Int = 4_096, maximumBytes: Int = 8 << 20, timekeeper: any Timekeeper) {
        self.timeLimit = timeLimit
        self.timekeeper = timekeeper
        state = Locked(State(memory: ExpiringMemo(capacity: capacity, maximumBytes: maximumBytes)))
    }

    var moment: Moment { state.withLock { Moment(removals: $0.removals) } }

    /// The error that a request would fail with again, because the same decode failed a short while ago.
    ///
    /// - Parameters:
    ///   - identity: The source.
    ///   - known: The source's present record.
    ///   - plan: The decode that the request would make.
    func failure(
        of identity: SourceIdentity, known: SourceRecord?, plan: (SourceRecord) throws -> DecodePlan
    ) -> ImagingError? {
        guard let entry = state.withLock({ $0.memory.value(for: FetchedTarget(identity), at: timekeeper.now) }),
            known == nil || known?.validator == entry.head.validator
        else { return nil }
        guard let record = entry.record else { return entry.failures[nil] }
        return (try? plan(record)).flatMap { entry.failures[$0] }
    }

    /// Remembers that a source's header could not be read.
    func remember(_ error: ImagingError, of head: SourceHead, since moment: Moment) {
        remember(error, nil, Entry(head: head, record: nil, failures: [:]), since: moment)
    }

    /// Remembers that this could not be decoded.
    func remember(_ error: ImagingError, _ plan: DecodePlan, of record: SourceRecord, since moment: Moment) {
        remember(error, plan, Entry(head: record.head, record: record, failures: [:]), since: moment)
    }

    /// Forgets a failure: this could be decoded after all.
    func forget(_ plan: DecodePlan, of identity: SourceIdentity) {
        let now = timekeeper.now
        state.withLock { $0.memory.change(FetchedTarget(identity), at: now) { $0.failures[plan] = nil } }
    }

    /// Forgets a source; nil stands for all.
    func forget(_ identity: SourceIdentity?) {
        state.withLock { state in
            state.removals += 1
            if let identity {
                state.memory.forget { $0.identity == identity }
            } else {
                state.memory.removeAll()
            }
        }
    }

    private func remember(_ error: ImagingError, _ plan: DecodePlan?, _ entry: Entry, since moment: Moment) {
        let head = entry.head
        guard error.isFaultOfSource, head.freshness.storability == .shared else { return }
        let remaining = head.freshness.remainingLifetime(at: timekeeper.secondsSince1970)
        let time = head.freshness.isLifetimeKnown ? min(timeLimit, .seconds(remaining)) : timeLimit
        let now = timekeeper.now
        let target = FetchedTarget(head.identity)
        state.withLock { state in
            guard state.removals == moment.removals else { return }
            var entry = entry
            if let known = state.memory.value(for: target, at: now), known.head.validator == head.validator {
                entry.failures = known.failures
            }
            if entry.failures.count >= Self.mostFailures, entry.failures[plan] == nil { entry.failures = [:] }
            entry.failures[plan] = error
            state.memory.remember(entry, for: target, bytes: entry.byteCount, until: now + time, at: now)
        }
    }
}

extension ImagingError {
    /// Whether the source's bytes are at fault; else it is a limit, a setting or the request.
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
    /// Whether it is of the first page alone: a source is of no use without that page.
    var isFirstPage: Bool { page == 0 && !isAnimated }
}
