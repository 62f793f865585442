package import Coordination
package import Memory

/// A copy of a source: from a cache, or from its origin for one caller of the downloader.
package struct SourceCopy: Sendable {
    package let head: SourceHead
    /// The body; nil if a cache does not hold it, or the caller did not request it.
    package let bytes: SharedBytes?
    package var participation: Participation
    /// The exchange with the origin that preceded it; nil if there was none.
    package let exchange: OriginExchange?

    package init(
        head: SourceHead, bytes: SharedBytes?, participation: Participation = .cached,
        exchange: OriginExchange? = nil
    ) {
        self.head = head
        self.bytes = bytes
        self.participation = participation
        self.exchange = exchange
    }
}

package struct OriginExchange: Sendable {
    package enum Reason: Sendable {
        case unknown
        /// The source was cached for other fields of our request.
        case otherVariant
        case stale
        /// The caller did not accept the cached source.
        case requested
    }

    package let reason: Reason
    /// The status of the origin's response; nil if there was none.
    package let status: Int?
    package let timings: TransferTimings
    /// Whether the delivered source is a stale copy because the origin failed.
    package let hasFailed: Bool
    /// The trace context of the transfer, as a `traceparent`, in the trace of the caller that began it; nil without a
    /// trace.
    package let traceparent: String?

    package init(
        reason: Reason, status: Int?, timings: TransferTimings = TransferTimings(), hasFailed: Bool = false,
        traceparent: String? = nil
    ) {
        self.reason = reason
        self.status = status
        self.timings = timings
        self.hasFailed = hasFailed
        self.traceparent = traceparent
    }
}

/// A running or queued transfer, as operators see it.
package struct FetchSnapshot: Sendable, Equatable {
    package let source: String
    package let host: String
    /// Whether it is running; otherwise it is queued.
    package let isRunning: Bool
    package let receivedBytes: Int
    package let expectedBytes: Int?
    /// The time since its first caller arrived.
    package let age: Duration
    package let receipts: [String]
}
