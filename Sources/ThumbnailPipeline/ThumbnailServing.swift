package import HTTPTypes
package import Imaging
package import Text

/// Makes thumbnails: what the API needs of the pipeline.
package protocol ThumbnailServing: Sendable {
    /// The request with its source resolved: done once for all times that it comes. Never blocks; called on the event threads.
    func resolved(_ request: ThumbnailRequest) -> RecurringRequest

    /// The thumbnail if it can be answered from the result cache at once. Never blocks; called on the event threads.
    func cachedThumbnail(for request: RecurringRequest) -> Thumbnail?

    /// Changes whenever something else than the passing of time may change what ``cachedThumbnail(for:)`` gives.
    var generation: Int { get }

    /// Counts an answer that was given again, within a second and a generation, without asking for its thumbnail.
    func countRepeatedHit()

    /// Why a request that cannot be answered at once is refused at once; nil when it may go on.
    ///
    /// Never blocks; called on the event threads.
    func refusal(of request: RecurringRequest) -> (any ServiceError)?

    /// The thumbnail, made with as little work as possible. Cancelling the task gives up this caller's share only.
    ///
    /// - Parameters:
    ///   - request: What is wanted.
    ///   - directives: What the caller asks of the caches.
    ///   - receipt: Name under which an operator can cancel this caller's wait for a download.
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    func thumbnail(
        for request: RecurringRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> Thumbnail

    /// A plain picture of `color` in the size of the request's box, made without its source.
    func placeholder(for request: ThumbnailRequest, color: Color) async throws -> EncodedImage
}

/// What operators may see and do.
package protocol ServiceControlling: Sendable {
    /// Running transfers, queued transfers, running renders.
    var activity: ServiceActivity { get }
    /// Usage of the caches by name, in the order `decoded`, `result`, `source`.
    var cacheUsage: [(name: String, usage: CacheUsage)] { get }
    /// One entry for each transfer under way or waiting.
    var downloads: [DownloadStatus] { get }
    /// The origins asked lately, by name.
    var origins: [OriginStatus] { get }
    /// Empties all caches; what was removed.
    func removeAll() async -> RemovedEntries
    /// Removes a source, all made from it and remembered failures; what was removed.
    ///
    /// - Throws: A ``ServiceError`` when `source` is no URL.
    func remove(source: ExactText) async throws -> RemovedEntries
    /// Cancels one caller's wait; false when no caller waits under this receipt.
    func cancel(receipt: String) -> Bool
}

/// Work under way.
package struct ServiceActivity: Sendable, Equatable {
    /// Running transfers.
    package var activeDownloads: Int
    /// Transfers waiting for a slot.
    package var queuedDownloads: Int
    /// Decodes and renders on the workers.
    package var activeRenders: Int

    /// A snapshot.
    package init(activeDownloads: Int, queuedDownloads: Int, activeRenders: Int) {
        self.activeDownloads = activeDownloads
        self.queuedDownloads = queuedDownloads
        self.activeRenders = activeRenders
    }
}

/// What is known of an origin.
package struct OriginStatus: Sendable, Equatable {
    /// In a word.
    package enum State: String, Sendable, CaseIterable {
        /// No transfer has said anything yet.
        case unknown
        /// The last transfer that said anything succeeded.
        case reachable
        /// It failed.
        case notReachable = "not_reachable"
        /// So many failed that the origin is left alone.
        case suspended
    }

    /// Scheme, host and port.
    package var origin: String
    package var state: State
    /// How long requests will be refused at least.
    package var retryAfterSeconds: Double?

    /// A snapshot.
    package init(origin: String, state: State, retryAfterSeconds: Double?) {
        self.origin = origin
        self.state = state
        self.retryAfterSeconds = retryAfterSeconds
    }
}

/// How full a cache is, in bytes.
package struct CacheUsage: Sendable, Equatable {
    package var bytes: Int
    package var capacity: Int
    package var preferred: Int
    package var entries: Int

    /// A snapshot.
    package init(bytes: Int, capacity: Int, preferred: Int, entries: Int) {
        self.bytes = bytes
        self.capacity = capacity
        self.preferred = preferred
        self.entries = entries
    }
}

/// What a removal took away.
package struct RemovedEntries: Sendable, Equatable {
    package var entries: Int
    package var bytes: Int

    /// Counts of removed entries and their bytes.
    package init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// One transfer as operators see it.
package struct DownloadStatus: Sendable, Equatable {
    package var url: String
    package var host: String
    /// Running, else queued.
    package var isRunning: Bool
    package var receivedBytes: Int
    package var expectedBytes: Int?
    package var ageSeconds: Double
    /// One per waiting caller, in order of arrival.
    package var receipts: [String]

    /// A snapshot.
    package init(
        url: String, host: String, isRunning: Bool, receivedBytes: Int, expectedBytes: Int?, ageSeconds: Double,
        receipts: [String]
    ) {
        self.url = url
        self.host = host
        self.isRunning = isRunning
        self.receivedBytes = receivedBytes
        self.expectedBytes = expectedBytes
        self.ageSeconds = ageSeconds
        self.receipts = receipts
    }
}
