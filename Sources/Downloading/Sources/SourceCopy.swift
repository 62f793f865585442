package import Coordination
package import Memory

package struct SourceCopy: Sendable {
    package let head: SourceHead
    /// The body; nil if it is not cached or the caller does not need it.
    package let bytes: SharedBytes?
    package var participation: Participation
    /// The origin's response in this fetch; nil if the origin was not contacted.
    package let exchange: OriginResponseInfo?
    /// Bytes of earlier ranges that did not suffice; zero for callers that joined the fetch.
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

    /// The same copy with bytes that retain `object`.
    func holding(_ object: some Sendable) -> SourceCopy {
        var copy = SourceCopy(
            head: head, bytes: bytes.map { SharedBytes(0..<$0.count, of: $0, holding: object) },
            participation: participation, exchange: exchange)
        copy.rangeBytes = rangeBytes
        return copy
    }
}

/// The result for a caller that does not need the whole source.
package enum FetchedSource: Sendable {
    case whole(SourceCopy)
    case partial(PartialCopy)
}

package struct PartialCopy: Sendable {
    package let source: PartialSource
    package internal(set) var participation = Participation.cached
    package let exchange: OriginResponseInfo
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
    /// The `traceparent` of the caller that started the transfer; nil without a trace.
    package var traceparent: String?
}
