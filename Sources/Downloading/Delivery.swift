package import Memory

/// A source as one caller of the downloader got it.
package struct Delivery: Sendable {
    /// How a caller took part in the transfer of its source.
    package enum Participation: Sendable {
        /// It took no part: the source cache had the source.
        case cached
        /// Its request began the transfer.
        case started
        /// It joined a transfer that was under way.
        case joined
    }

    /// The header of the origin's answer.
    package let head: SourceHead
    /// The body; nil only if the caller asked for none.
    package let bytes: SharedBytes?
    /// How the caller took part in the transfer.
    package let participation: Participation
    /// The exchange with the origin that preceded it; nil if there was none.
    package let exchange: OriginExchange?

    /// A source that a caller got with this participation.
    package init(head: SourceHead, bytes: SharedBytes?, participation: Participation, exchange: OriginExchange? = nil) {
        self.head = head
        self.bytes = bytes
        self.participation = participation
        self.exchange = exchange
    }
}

/// An exchange with an origin: why it was asked and how it answered.
package struct OriginExchange: Sendable {
    /// Why the cache did not answer.
    package enum Reason: Sendable {
        /// It did not know the source.
        case unknown
        /// It knew the source for other fields of our request.
        case otherVariant
        /// The stored source was stale.
        case stale
        /// The caller did not want the stored source.
        case requested
    }

    /// Why the cache did not answer.
    package let reason: Reason
    /// The status of the origin's answer; nil if there was none.
    package let status: Int?
    /// How long the phases took.
    package let timings: TransferTimings
    /// Whether the delivered source stands in for an answer that the origin could not give.
    package let hasFailed: Bool
    /// The place of the transfer in the trace of the caller that began it, as a `traceparent`; nil without a trace.
    package let traceparent: String?

    /// An exchange that ended with this status.
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

/// One transfer under way or queued, as operators see it.
package struct FlightSnapshot: Sendable, Equatable {
    /// The source as operators name it.
    package let source: String
    package let host: String
    /// Whether it runs; else it waits in the queue.
    package let isRunning: Bool
    /// Bytes of the body so far.
    package let receivedBytes: Int
    /// The announced length of the body.
    package let expectedBytes: Int?
    /// Time since its first caller came.
    package let age: Duration
    /// One a waiting caller, in order of arrival.
    package let receipts: [String]
}
