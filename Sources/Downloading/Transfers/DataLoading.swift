import Coordination
import Crypto
import HTTPTypes
import Memory
import Synchronization

package protocol DataLoading: Sendable {
    /// Returns or throws only when the transfer has ended and its connection is closed or idle; canceling the task
    /// ends it.
    ///
    /// - Parameter admitHop: Called before each hop with its URL; an error ends the transfer before any name lookup.
    ///   Must be quick.
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferResult

    var originHealth: OriginHealthSummary { get }
}

/// Admits a transfer to a URL, or throws the reason for rejecting it.
package typealias HopAdmission = @Sendable (SourceURL) throws(DownloadError) -> Void

extension DataLoading {
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func load(_ request: TransferRequest, progress: TransferProgress) async throws -> TransferResult {
        try await load(request, progress: progress) { (_) throws(DownloadError) in }
    }

    package var originHealth: OriginHealthSummary { OriginHealthSummary() }
}

package struct TransferRequest: Hashable, Sendable {
    package let identity: SourceIdentity
    /// Validates a stored version; nil requests the source itself.
    package let condition: SourceCondition?
    /// Otherwise the header of any response is enough, including a redirect.
    package let needsBody: Bool
    /// A `traceparent` for named origins that accept one.
    package let traceparent: String?
    /// Nil for a request that reads.
    let upload: TransferUpload?
    /// Nil for the origin's limit.
    let maximumBytes: Int?

    package init(
        identity: SourceIdentity, condition: SourceCondition? = nil, needsBody: Bool = true, traceparent: String? = nil
    ) {
        upload = nil
        maximumBytes = nil
        self.identity = identity
        self.condition = condition
        self.needsBody = needsBody
        self.traceparent = traceparent
    }

    /// Reads an object of at most this many bytes, or stores one.
    init(object identity: SourceIdentity, atMost maximumBytes: Int? = nil, upload: TransferUpload? = nil) {
        self.identity = identity
        self.maximumBytes = maximumBytes
        self.upload = upload
        needsBody = upload == nil
        (condition, traceparent) = (nil, nil)
    }

    var isCall: Bool { upload?.isCall ?? false }
}

struct TransferUpload: Hashable, Sendable {
    let method: HTTPRequest.Method
    let fields: HTTPFields
    let bytes: SharedBytes
    let isCall: Bool
    private let digest: String

    init(_ bytes: SharedBytes, _ description: ObjectDescription = ObjectDescription()) {
        self.bytes = bytes
        digest = bytes.withBytes { SHA256.hash($0) }.hexadecimal
        method = HTTPRequest.Method(rawValue: "PUT")
        var fields: HTTPFields = [.xAmzContentSHA256: digest, .contentType: description.mediaType]
        if let cacheControl = description.cacheControl { fields.append(.cacheControl, cacheControl) }
        self.fields = fields
        isCall = false
    }

    init(call: HTTPRequest) {
        bytes = call.body ?? SharedBytes([])
        digest = bytes.withBytes { SHA256.hash($0) }.hexadecimal
        method = call.method
        fields = call.headerFields
        isCall = true
    }

    static func == (left: TransferUpload, right: TransferUpload) -> Bool {
        left.digest == right.digest && left.method == right.method && left.fields == right.fields
            && left.isCall == right.isCall
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// The metadata of an object that a store keeps and sends to its readers.
package struct ObjectDescription: Sendable {
    let mediaType: String
    let cacheControl: String?

    package init(mediaType: String = "application/octet-stream", cacheControl: String? = nil) {
        self.mediaType = mediaType
        self.cacheControl = cacheControl
    }
}

package enum TransferResult: Sendable {
    case source(Source)
    case notModified(SourceConfirmation)
    /// The header of a response that is not an error, if no more was requested.
    case head
}

/// Written by the transfer's thread, read by any.
package final class TransferProgress: Sendable {
    private let received = Atomic(0)
    private let expected = Atomic(-1)

    private let hasBegun = Atomic(false)
    private let refusal = Atomic(-1)
    private let room = Locked<MemoryReservation?>(nil)
    private let watch = Locked<ProgressWatch?>(nil)

    package init() {}

    package var receivedBytes: Int { received.load(ordering: .relaxed) }

    package var expectedBytes: Int? {
        let count = expected.load(ordering: .relaxed)
        return count < 0 ? nil : count
    }

    package var hasResponse: Bool { hasBegun.load(ordering: .relaxed) }

    package func beginResponse() { hasBegun.store(true, ordering: .relaxed) }

    package func awaitResponse() { hasBegun.store(false, ordering: .relaxed) }

    package var isPastHalf: Bool {
        guard let expectedBytes, expectedBytes > 0 else { return false }
        return receivedBytes >= expectedBytes - receivedBytes
    }

    /// The time for which the origin's error may be reused, if specified.
    package var errorLifetime: Duration? {
        let seconds = refusal.load(ordering: .relaxed)
        return seconds < 0 ? nil : .seconds(seconds)
    }

    package func setErrorLifetime(seconds: Int) { refusal.store(seconds, ordering: .relaxed) }

    package func expect(_ count: Int?) { expected.store(count ?? -1, ordering: .relaxed) }

    /// Begins a body with this announced length, or begins it again.
    package func begin(expecting count: Int?) {
        received.store(0, ordering: .relaxed)
        expect(count)
    }

    /// Also reserves memory.
    ///
    /// - Parameter window: The number of bytes retained by a decoder besides the body so far.
    package func receive(_ count: Int, window: Int = 0) throws(DownloadError) {
        let total = received.wrappingAdd(count, ordering: .relaxed).newValue
        watch.withLock { $0?.dueReport() }?()
        guard let room = room.withLock({ $0 }), case let missing = total + window - room.bytes, missing > 0 else {
            return
        }
        do {
            try room.grow(by: (missing / Self.portion + 1) * Self.portion, for: .arrival)
        } catch {
            throw .memoryFull
        }
    }

    /// Calls `report` on the transfer's thread when bytes have arrived, at most once per `interval`.
    func watch(every interval: Duration, by timekeeper: any Timekeeper, _ report: @escaping @Sendable () -> Void) {
        let first = ProgressWatch(
            interval: interval, timekeeper: timekeeper, report: report, next: timekeeper.now + interval)
        watch.withLock { $0 = first }
    }

    /// The amount of memory reserved at a time in bytes.
    static let portion = 256 << 10

    /// Adds more as the body arrives; nil releases it.
    func take(_ new: MemoryReservation?) {
        let old = room.withLock { room in
            defer { room = new }
            return room
        }
        // Released here, outside the lock.
        _ = old
    }
}

private struct ProgressWatch {
    let interval: Duration
    let timekeeper: any Timekeeper
    let report: @Sendable () -> Void
    var next: Duration

    mutating func dueReport() -> (@Sendable () -> Void)? {
        let now = timekeeper.now
        guard now >= next else { return nil }
        next = now + interval
        return report
    }
}

package struct OriginHealthSummary: Sendable, Equatable {
    package var origins: [OriginSnapshot] = []
    package var suspensions = 0
}

package struct OriginSnapshot: Sendable, Equatable {
    package let origin: OriginKey
    package let isReachable: Bool?
    package let isSuspended: Bool
    package var cause: String?
    /// Nil if the next transfer is the probe, or none are rejected.
    package let retryAfter: Duration?
    /// Whether one of its sources has worked, or the settings name it: clients cannot invent such an origin.
    package var isProven = false
}
