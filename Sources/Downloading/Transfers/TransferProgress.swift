import Coordination
import Crypto
import HTTPTypes
import Memory
import Synchronization

/// The progress of a transfer; written by its thread, read by any.
package final class TransferProgress: Sendable {
    /// Bytes of memory reserved at a time.
    static let portion = 256 << 10

    private let received = Atomic(0)
    private let expected = Atomic(-1)
    private let earlierBytes = Atomic(0)
    private let whole = Atomic(false)

    private let hasBegun = Atomic(false)
    private let rejection = Atomic(-1)
    private let reservation = Locked<MemoryReservation?>(nil)
    private let watch = Locked<ProgressWatch?>(nil)
    private let steps = Locked((timings: TransferTimings(), resumedAt: Int?.none))

    package init() {}

    /// The durations of all requests so far, without the total.
    var timings: TransferTimings { steps.withLock(\.timings) }

    /// The offset at which the last request resumed the body.
    var resumedAt: Int? { steps.withLock(\.resumedAt) }

    func record(_ timings: TransferTimings) { steps.withLock { $0.timings = timings } }

    func recordResumption(at count: Int?) { steps.withLock { $0.resumedAt = count } }

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

    /// How long the origin's error may be reused, if specified.
    package var errorLifetime: Duration? {
        let seconds = rejection.load(ordering: .relaxed)
        return seconds < 0 ? nil : .seconds(seconds)
    }

    package func setErrorLifetime(seconds: Int) { rejection.store(seconds, ordering: .relaxed) }

    package func expect(_ count: Int?) {
        expected.store(count.map { $0 + earlierBytes.load(ordering: .relaxed) } ?? -1, ordering: .relaxed)
    }

    /// Begins a body with this announced length, or restarts it.
    package func begin(expecting count: Int?) {
        received.store(earlierBytes.load(ordering: .relaxed), ordering: .relaxed)
        expect(count)
    }

    /// Counts the next body in addition to earlier ones.
    func beginNextBody() { earlierBytes.store(receivedBytes, ordering: .relaxed) }

    /// Whether the origin sends the whole source although a range was requested.
    var isWhole: Bool { whole.load(ordering: .acquiring) }

    func markWhole() { whole.store(true, ordering: .releasing) }

    /// Counts bytes, and reserves memory for them.
    ///
    /// - Parameter window: The number of bytes that a decoder retains besides the body.
    package func receive(_ count: Int, window: Int = 0) throws(DownloadError) {
        let total = received.wrappingAdd(count, ordering: .relaxed).newValue
        watch.withLock { $0?.dueReport() }?()
        guard let reservation = reservation.withLock({ $0 }), case let missing = total + window - reservation.bytes,
            missing > 0
        else {
            return
        }
        do {
            try reservation.grow(by: (missing / Self.portion + 1) * Self.portion)
        } catch {
            throw .memoryFull
        }
    }

    /// Calls `report` on the transfer's thread when bytes arrive, at most once per `interval`.
    func watch(every interval: Duration, by timekeeper: any Timekeeper, _ report: @escaping @Sendable () -> Void) {
        let first = ProgressWatch(
            interval: interval, timekeeper: timekeeper, report: report, next: timekeeper.now + interval)
        watch.withLock { $0 = first }
    }

    /// Replaces the reservation, which grows as the body arrives; nil releases it.
    ///
    /// - Returns: The previous reservation.
    @discardableResult
    func replaceReservation(with new: MemoryReservation?) -> MemoryReservation? { reservation.exchange(new) }
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
