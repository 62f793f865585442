package import Coordination
package import Memory

package struct SourceCopy: Sendable {
    package let head: SourceHead
    /// The body; nil if it is not cached or the caller does not need it.
    package let bytes: SharedBytes?
    /// The fetched ranges, if they suffice for the caller; then ``bytes`` is nil.
    package let ranges: PartialSource?
    package var participation: Participation
    /// The origin's response in this fetch; nil if the origin was not contacted.
    package let exchange: OriginExchange?
    /// Bytes of earlier ranges that did not suffice; zero for callers that joined the fetch.
    package internal(set) var rangeBytes = 0

    package init(
        head: SourceHead, bytes: SharedBytes?, ranges: PartialSource? = nil, participation: Participation = .cached,
        exchange: OriginExchange? = nil
    ) {
        self.head = head
        self.bytes = bytes
        self.ranges = ranges
        self.participation = participation
        self.exchange = exchange
    }

    /// The same copy with bytes that retain `object`.
    func holding(_ object: some Sendable) -> SourceCopy {
        var copy = SourceCopy(
            head: head, bytes: bytes.map { SharedBytes(0..<$0.count, of: $0, holding: object) },
            participation: participation, exchange: exchange)
        copy.rangeBytes = rangeBytes
        return copy
    }

    /// Whether the origin confirmed the stored source.
    var isConfirmation: Bool { exchange?.status == 304 }

    /// The size of the response; nil after a 304.
    package var byteCount: Int? { ranges?.file.knownCount ?? (isConfirmation ? nil : bytes?.count) }

    /// Bytes received from the origin by a fetch that the caller started, including earlier ranges.
    package var startedBytes: Int { rangeBytes + (participation == .started ? byteCount ?? 0 : 0) }
}

package struct OriginExchange: Sendable {
    package enum Reason: Sendable {
        case unknown
        case otherVariant
        case stale
        case requested
    }

    package let reason: Reason
    package let status: Int?
    package var timings = TransferTimings()
    package var hasFailed = false
    /// The `traceparent` of the caller that started the transfer; nil without a trace.
    package var traceparent: String?
}

/// The result of a shared fetch.
enum FetchOutcome: Sendable {
    case fetched(SourceCopy)
    /// The ranges, with this number of bytes, did not suffice: callers need the whole source.
    case insufficient(Int)

    func shared(as participation: Participation) -> FetchOutcome {
        switch self {
        case .fetched(var copy):
            copy.participation = participation
            if participation != .started { copy.rangeBytes = 0 }
            return .fetched(copy)
        case .insufficient: return participation == .started ? self : .insufficient(0)
        }
    }

    /// The same outcome with a body that is counted for the reservation's tenant while in use.
    func holding(_ reservation: MemoryReservation?) -> FetchOutcome {
        guard let reservation, case .fetched(let copy) = self, let bytes = copy.bytes, !copy.isConfirmation
        else { return self }
        reservation.convertToBody(byteCount: bytes.footprint)
        return .fetched(copy.holding(reservation))
    }
}
