package import Coordination
package import Memory

package struct SourceCopy: Sendable {
    package let head: SourceHead
    /// The body; nil if a cache does not hold it, or the caller did not request it.
    package let bytes: SharedBytes?
    package var participation: Participation
    /// The exchange with the origin that preceded it; nil if there was none.
    package let exchange: OriginResponseInfo?
    /// The bytes of earlier ranges, which did not suffice; zero for callers that joined the fetch.
    package internal(set) var rangeBytes = 0

    package init(
        head: SourceHead, bytes: SharedBytes?, participation: Participation = .cached,
        exchange: OriginResponseInfo? = nil
    ) {
        self.head = head
        self.bytes = bytes
        self.participation = participation
        self.exchange = exchange
    }

    /// The same copy, whose bytes retain `object`.
    func holding(_ object: some Sendable) -> SourceCopy {
        var copy = SourceCopy(
            head: head, bytes: bytes.map { SharedBytes(0..<$0.count, of: $0, holding: object) },
            participation: participation, exchange: exchange)
        copy.rangeBytes = rangeBytes
        return copy
    }
}

/// The result for a caller that does not need all of a source.
package enum FetchedSource: Sendable {
    case whole(SourceCopy)
    case part(PartialCopy)
}

package struct PartialCopy: Sendable {
    package let source: PartialSource
    package internal(set) var participation = Participation.cached
    package let exchange: OriginResponseInfo
}

/// The result of a fetch for all its callers.
enum FetchOutcome: Sendable {
    case fetched(FetchedSource)
    /// The bytes of ranges that did not suffice: its callers need all of the source.
    case insufficient(Int)

    func shared(as participation: Participation) -> FetchOutcome {
        switch self {
        case .fetched(.whole(var copy)):
            copy.participation = participation
            if participation != .started { copy.rangeBytes = 0 }
            return .fetched(.whole(copy))
        case .fetched(.part(var copy)):
            copy.participation = participation
            return .fetched(.part(copy))
        case .insufficient: return participation == .started ? self : .insufficient(0)
        }
    }

    /// The same outcome, whose body belongs to the reservation's tenant while it is in use.
    func holding(_ reservation: MemoryReservation?) -> FetchOutcome {
        guard let reservation, case .fetched(.whole(let copy)) = self, let bytes = copy.bytes, !isConfirmation
        else { return self }
        reservation.settle(on: bytes.footprint)
        return .fetched(.whole(copy.holding(reservation)))
    }

    var isConfirmation: Bool {
        if case .fetched(.whole(let copy)) = self { copy.exchange?.status == 304 } else { false }
    }
}

package struct OriginResponseInfo: Sendable {
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
    /// A `traceparent` in the trace of the caller that began the transfer; nil without a trace.
    package var traceparent: String?
}

package struct FetchSnapshot: Sendable, Equatable {
    package let source: String
    /// The host, with a port that is not the default.
    package let host: String
    package let isRunning: Bool
    package let receivedBytes: Int
    package let expectedBytes: Int?
    package let age: Duration
    package let receipts: [String]
}
