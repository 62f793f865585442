/// A source as one caller of the downloader got it.
package struct Delivery: Sendable {
    /// How a caller came by its source.
    package enum Origin: Sendable {
        /// The source cache had it.
        case cache
        /// This caller's request began the transfer.
        case started
        /// This caller joined a transfer that was under way.
        case joined
    }

    /// The source.
    package let source: Source
    /// How it was come by.
    package let origin: Origin

    /// A source that was come by in this way.
    package init(source: Source, origin: Origin) {
        self.source = source
        self.origin = origin
    }
}

/// One transfer under way or queued, as operators see it.
package struct FlightSnapshot: Sendable, Equatable {
    /// The canonical URL.
    package let url: String
    /// Its host.
    package let host: String
    /// Running, else queued.
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
