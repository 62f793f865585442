package import Coordination
package import Memory

package struct SourceCopy: Sendable {
    package let head: SourceHead
    /// The body; nil if a cache does not hold it, or the caller did not request it.
    package let bytes: SharedBytes?
    package var participation: Participation
    /// The exchange with the origin that preceded it; nil if there was none.
    package let exchange: OriginResponseInfo?

    package init(
        head: SourceHead, bytes: SharedBytes?, participation: Participation = .cached,
        exchange: OriginResponseInfo? = nil
    ) {
        self.head = head
        self.bytes = bytes
        self.participation = participation
        self.exchange = exchange
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
    /// With a port that is not the default.
    package let host: String
    package let isRunning: Bool
    package let receivedBytes: Int
    package let expectedBytes: Int?
    package let age: Duration
    package let receipts: [String]
}
