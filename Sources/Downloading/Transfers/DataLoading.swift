import Coordination
import Crypto
import HTTPTypes
import Memory
import Synchronization

/// Fetches one source: the mechanism under the downloader's policy.
package protocol DataLoading: Sendable {
    /// Fetches the source, and reports as it arrives.
    ///
    /// Returns or throws only when the transfer has ended and its connection is closed or idle; cancelling the task
    /// ends it.
    ///
    /// - Parameters:
    ///   - request: The source, and how much of it.
    ///   - progress: How far it has come.
    ///   - admitHop: Called before each hop, redirects' and the first, with the URL of the request; an error that it
    ///     throws ends the transfer before a name is looked up. Must be quick.
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferAnswer

    /// The health of recently used origins, if the loader keeps a book of them.
    var originHealth: OriginHealthSummary { get }
}

/// Lets a transfer go on to a URL, or throws why not.
package typealias HopAdmission = @Sendable (SourceURL) throws(DownloadError) -> Void

extension DataLoading {
    /// Fetches the source with any redirects.
    ///
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func load(_ request: TransferRequest, progress: TransferProgress) async throws -> TransferAnswer {
        try await load(request, progress: progress) { (_) throws(DownloadError) in }
    }

    /// Nothing: this loader keeps no book.
    package var originHealth: OriginHealthSummary { OriginHealthSummary() }
}

/// A request to an origin.
package struct TransferRequest: Hashable, Sendable {
    package let identity: SourceIdentity
    /// The condition that asks whether a stored version is still valid; nil asks for the source itself.
    package let condition: SourceCondition?
    /// Whether the source itself is wanted; else the header of any answer is enough, also of a redirect.
    package let needsBody: Bool
    /// The `traceparent` for named origins that take one; nil for none.
    package let traceparent: String?
    /// Bytes that are put there; nil for a request that asks.
    let upload: TransferUpload?
    /// Most bytes of the answer's body; nil for the origin's own bound.
    let maximumBytes: Int?

    /// A request for a source, for its confirmation, or for a sign of life.
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

    /// A request for an object of at most so many bytes, or one that puts an object there.
    init(object identity: SourceIdentity, atMost maximumBytes: Int? = nil, upload: TransferUpload? = nil) {
        self.identity = identity
        self.maximumBytes = maximumBytes
        self.upload = upload
        needsBody = upload == nil
        (condition, traceparent) = (nil, nil)
    }

    /// Whether it asks for no source and puts no object anywhere, but tells a host something: the settings about
    /// sources do not bind it, those about addresses do.
    var isCall: Bool { upload?.isCall ?? false }
}

/// Bytes that a request brings; equal if their digests are, and all else.
struct TransferUpload: Hashable, Sendable {
    let method: HTTPRequest.Method
    /// The fields that stand for these bytes, instead of those of the same names that all requests have.
    let fields: HTTPFields
    let bytes: SharedBytes
    let isCall: Bool
    /// Their SHA-256 in hexadecimal.
    private let digest: String

    /// An object that is put somewhere; hashes all bytes.
    init(_ bytes: SharedBytes, _ description: ObjectDescription = ObjectDescription()) {
        self.bytes = bytes
        digest = bytes.withBytes { SHA256.hash($0) }.hexadecimal
        method = HTTPRequest.Method(rawValue: "PUT")
        var fields: HTTPFields = [.xAmzContentSHA256: digest, .contentType: description.mediaType]
        if let cacheControl = description.cacheControl { fields.append(.cacheControl, cacheControl) }
        self.fields = fields
        isCall = false
    }

    /// The method, the fields and the body of a call.
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

/// The facts about an object that a store is told, and tells its readers.
package struct ObjectDescription: Sendable {
    let mediaType: String
    /// The value of `Cache-Control`; nil for none.
    let cacheControl: String?

    /// An object of this media type, with this value of `Cache-Control`.
    package init(mediaType: String = "application/octet-stream", cacheControl: String? = nil) {
        self.mediaType = mediaType
        self.cacheControl = cacheControl
    }
}

/// An origin's answer.
package enum TransferAnswer: Sendable {
    /// The source, whole.
    case source(Source)
    /// The version that the condition named still holds.
    case notModified(SourceConfirmation)
    /// The header of an answer that is not a refusal, if no more was wanted.
    case head
}

/// How far a transfer has come: written by the transfer's thread, read by any.
package final class TransferProgress: Sendable {
    private let received = Atomic(0)
    /// -1 while unknown.
    private let expected = Atomic(-1)

    private let isAnswered = Atomic(false)
    /// Seconds for which the origin lets its refusal be reused; -1 while it does not say.
    private let refusal = Atomic(-1)
    /// The memory that the body may take; nil if it is not counted.
    private let room = Locked<MemoryReservation?>(nil)
    /// Who is told of arriving bytes.
    private let watch = Locked<ProgressWatch?>(nil)

    /// Nothing received, nothing announced.
    package init() {}

    /// Bytes of the body so far.
    package var receivedBytes: Int { received.load(ordering: .relaxed) }

    /// The announced length of the body.
    package var expectedBytes: Int? {
        let count = expected.load(ordering: .relaxed)
        return count < 0 ? nil : count
    }

    /// Whether the origin that is being asked has begun to answer.
    package var hasAnswer: Bool { isAnswered.load(ordering: .relaxed) }

    /// Notes that the origin has begun to answer.
    package func beginAnswer() { isAnswered.store(true, ordering: .relaxed) }

    /// Another origin is asked, which has not answered yet.
    package func awaitAnswer() { isAnswered.store(false, ordering: .relaxed) }

    /// Whether at least half of the announced bytes are in.
    package var isPastHalf: Bool {
        guard let expectedBytes, expectedBytes > 0 else { return false }
        return receivedBytes >= expectedBytes - receivedBytes
    }

    /// How long the origin's refusal may be reused, if the origin says so.
    package var refusalLifetime: Duration? {
        let seconds = refusal.load(ordering: .relaxed)
        return seconds < 0 ? nil : .seconds(seconds)
    }

    /// Notes for how many seconds a refusal may be reused.
    package func refuse(reusableFor seconds: Int) { refusal.store(seconds, ordering: .relaxed) }

    /// Notes the announced length.
    package func expect(_ count: Int?) { expected.store(count ?? -1, ordering: .relaxed) }

    /// A body begins, or begins again, whose announced length is this.
    package func begin(expecting count: Int?) {
        received.store(0, ordering: .relaxed)
        expect(count)
    }

    /// Notes bytes of the body, and has memory reserved for them.
    ///
    /// - Parameters:
    ///   - count: How many have come.
    ///   - window: Bytes that a decoder keeps besides the body so far.
    /// - Throws: ``DownloadError/memoryFull``; the transfer ends there.
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

    /// Has `report` called when bytes have arrived, at most once in each `interval` from now on; on the transfer's
    /// thread.
    func watch(every interval: Duration, by timekeeper: any Timekeeper, _ report: @escaping @Sendable () -> Void) {
        let first = ProgressWatch(
            interval: interval, timekeeper: timekeeper, report: report, next: timekeeper.now + interval)
        watch.withLock { $0 = first }
    }

    /// Memory that is reserved at a time, in bytes.
    static let portion = 256 << 10

    /// Lets the body take this memory, and more as it comes; nil gives it back.
    func take(_ new: MemoryReservation?) {
        let old = room.withLock { room in
            defer { room = new }
            return room
        }
        // Given back here, outside the lock.
        _ = old
    }
}

/// Tells how a body arrives, but not too often.
private struct ProgressWatch {
    let interval: Duration
    let timekeeper: any Timekeeper
    let report: @Sendable () -> Void
    /// When the next report may be made.
    var next: Duration

    /// The report, if it is time for one.
    mutating func dueReport() -> (@Sendable () -> Void)? {
        let now = timekeeper.now
        guard now >= next else { return nil }
        next = now + interval
        return report
    }
}
