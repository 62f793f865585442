import Coordination
import HTTPTypes
import Text

typealias FetchID = UInt64
typealias WaiterID = UInt64

/// A fetch shared by several callers, from the lookup in the slower layers to the end of its transfer.
///
/// `Answer` is a caller's continuation.
struct SharedFetch<Answer> {
    let id: FetchID
    let key: FetchKey
    var request: SourceRequest
    let progress = TransferProgress()
    let startedAt: Duration
    var waiters: [Waiter<Answer>] = []
    /// Nil while queued, and while slower layers are queried.
    var slot: SlotToken?
    /// When it began to wait for a slot, or took one at once.
    var queuedAt: Duration
    /// The stored source, which must not be used before its origin confirms it.
    var storedCopy: SourceCopy?
    /// Whether its last caller has left and its transfer is being canceled.
    var isAbandoned = false
    /// Whether its request was sent before its source was removed from the caches.
    var isInvalidated = false

    func isOverdue(at now: Duration) -> Bool {
        waiters.contains { waiter in waiter.halfTime.map { $0 <= now } ?? false }
    }

    var host: ExactText { key.identity.url.hostAndPort }
}

/// Callers with equal keys may share a fetch; a response that must not be stored is not shared.
///
/// A source from slower layers is checked for each caller separately.
struct FetchKey: Hashable {
    enum Mode {
        case ordinary
        case reload
        case unstored
    }

    let identity: SourceIdentity
    let mode: Mode
    let extent: SourceWalk.Extent

    init(_ request: SourceRequest) {
        identity = request.identity
        extent = request.walk?.extent ?? .whole
        mode = request.directives.noStore ? .unstored : request.directives.noCache ? .reload : .ordinary
    }

    private init(_ identity: SourceIdentity, _ mode: Mode, _ extent: SourceWalk.Extent) {
        (self.identity, self.mode, self.extent) = (identity, mode, extent)
    }

    /// The fetches whose responses its callers may use; an ordinary caller may use a reload's, but not the reverse,
    /// because the response may be older than the reload.
    ///
    /// Callers of the whole source may join the fetch of a part, because the origin may send the whole.
    var suitable: [FetchKey] {
        let modes: [Mode] =
            switch mode {
            case .ordinary: [.ordinary, .reload]
            case .reload: [.reload]
            case .unstored: []
            }
        let extents = extent == .whole ? SourceWalk.Extent.allCases : [extent, .whole]
        return modes.flatMap { mode in extents.map { FetchKey(identity, mode, $0) } }
    }
}

struct Waiter<Answer> {
    let id: WaiterID
    let request: SourceRequest
    let receipt: String
    let halfTime: Duration?
    let participation: Participation
    let answer: Answer
}
