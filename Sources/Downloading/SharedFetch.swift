import Coordination
import HTTPTypes
import Text

typealias FetchID = UInt64
typealias WaiterID = UInt64

/// A fetch shared by several callers, from the lookup in the layers below memory to the end of its transfer.
///
/// `Continuation` resumes a caller.
struct SharedFetch<Continuation> {
    let id: FetchID
    let key: FetchKey
    var request: SourceRequest
    let progress = TransferProgress()
    let startedAt: Duration
    var waiters: [Waiter<Continuation>] = []
    /// The slot; nil while the fetch is queued or queries the layers below memory.
    var slot: SlotToken?
    /// When the fetch was queued for a slot or got one immediately.
    var queuedAt: Duration
    /// The stored source, which may be used only if its origin confirms it.
    var storedCopy: SourceCopy?
    /// True if the last caller has left and the transfer is being canceled.
    var isAbandoned = false
    /// True if the source was purged after the request was sent.
    var isInvalidated = false

    func isOverdue(at now: Duration) -> Bool {
        waiters.contains { waiter in waiter.halfTime.map { $0 <= now } ?? false }
    }

    var host: ExactText { key.identity.url.hostAndPort }
}

/// Callers with equal keys may share a fetch; a response that must not be stored is not shared.
///
/// A source from the layers below memory is checked for each caller separately.
struct FetchKey: Hashable {
    enum Mode {
        case ordinary
        case reload
        case unstored
    }

    let identity: SourceIdentity
    let mode: Mode
    let extent: SourceScan.Extent

    init(_ request: SourceRequest) {
        identity = request.identity
        extent = request.scan?.extent ?? .whole
        mode = request.directives.noStore ? .unstored : request.directives.noCache ? .reload : .ordinary
    }

    private init(_ identity: SourceIdentity, mode: Mode, extent: SourceScan.Extent) {
        self.identity = identity
        self.mode = mode
        self.extent = extent
    }

    /// The keys of fetches that a caller with this key may join.
    ///
    /// An ordinary caller may join a reload, but not the reverse, because the ordinary response may be older than the
    /// reload. Callers of the whole source may join a fetch of ranges, because the origin may send the whole source.
    var joinableKeys: [FetchKey] {
        let modes: [Mode] =
            switch mode {
            case .ordinary: [.ordinary, .reload]
            case .reload: [.reload]
            case .unstored: []
            }
        let extents = extent == .whole ? SourceScan.Extent.allCases : [extent, .whole]
        return modes.flatMap { mode in extents.map { FetchKey(identity, mode: mode, extent: $0) } }
    }
}

struct Waiter<Continuation> {
    let id: WaiterID
    let request: SourceRequest
    let receipt: String
    let halfTime: Duration?
    var participation: Participation
    let continuation: Continuation
}
