import HTTPTypes
import Text

/// Identifies a flight among all others, also earlier and later ones of the same URL.
typealias FlightID = UInt64
/// Identifies a caller.
typealias WaiterID = UInt64

/// A fetch that several callers wait for together: from a look into the slower layers of the cache to the end of its
/// transfer.
///
/// `Answer` stands for a caller's continuation.
struct Flight<Answer> {
    let id: FlightID
    let key: FlightKey
    /// The request that the transfer is made for.
    var request: SourceRequest
    let progress = TransferProgress()
    let startedAt: Duration
    var waiters: [Waiter<Answer>] = []
    /// Nil while queued, and while slower layers are asked.
    var slot: SlotToken?
    /// The stored source, which must not be used before its origin confirms it.
    var known: StoredSource?
    /// Its last caller has left, and its transfer is being cancelled.
    var isAbandoned = false
    /// Its request was sent before its source was removed from the caches.
    var isOutdated = false

    /// Whether half of a caller's time is over.
    func isOverdue(at now: Duration) -> Bool {
        waiters.contains { waiter in waiter.halfTime.map { $0 <= now } ?? false }
    }

    /// The host and port for the cap per host.
    var host: ExactText { key.identity.url.hostAndPort }
}

/// Which callers may share a flight: the origin's current answer suits all of them, but an answer that must not
/// be kept is not shared.
///
/// A source from slower layers is judged for each caller separately.
struct FlightKey: Hashable {
    /// The use of caches by callers.
    enum Mode {
        /// The caller takes what a cache may give.
        case ordinary
        /// The caller wants the origin's current answer.
        case reload
        /// The caller wants the answer kept nowhere.
        case unstored
    }

    let identity: SourceIdentity
    let mode: Mode

    init(_ request: SourceRequest) {
        identity = request.identity
        mode = request.directives.noStore ? .unstored : request.directives.noCache ? .reload : .ordinary
    }

    init(identity: SourceIdentity, mode: Mode) {
        self.identity = identity
        self.mode = mode
    }
}

/// A caller that waits for a flight.
struct Waiter<Answer> {
    let id: WaiterID
    let request: SourceRequest
    let receipt: String
    /// When half of its time is over.
    let halfTime: Duration?
    /// How it takes part in its flight.
    let participation: Delivery.Participation
    let answer: Answer
}
