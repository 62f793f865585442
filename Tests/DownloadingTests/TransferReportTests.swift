import Coordination
import TestSupport
import Testing

@testable import Downloading

/// The downloader's reports on running transfers.
@Suite(.timeLimit(.minutes(1)))
struct TransferReportTests {
    private let loader = StubLoader()
    private let clock = ManualTimekeeper()
    private let reports = Locked<[TransferReport]>([])
    private let activity = Locked<[Bool]>([])
    private let activities = EventCounter()
    private let ends = EventCounter()
    private let downloader: ImageDownloader

    init() {
        downloader = ImageDownloader(
            rules: DownloadRules(DownloadConfiguration()), loader: loader, cache: StubCache(), timekeeper: clock,
            observer: DownloadObserver(
                onFinish: { [ends] _ in ends.increment() },
                onTransferReport: { [reports] report in reports.withLock { $0.append(report) } },
                onActivityChange: { [activity, activities] isActive in
                    activity.withLock { $0.append(isActive) }
                    activities.increment()
                }))
    }

    private var states: [String] {
        reports.withLock { reports in
            reports.map { report in
                switch report.state {
                case .started: "started"
                case .progress: "progress"
                case .ended(let end): end.outcome.rawValue
                }
            }
        }
    }

    private var lastEnd: FinishedTransfer? {
        guard case .ended(let end)? = reports.withLock({ $0.last?.state }) else { return nil }
        return end
    }

    @Test func `a transfer is reported from its start to its end`() async throws {
        let caller = downloader.begin("/a")
        await loader.starts(1)
        loader.report("/a", received: 3, expected: 10)
        clock.advance(by: .milliseconds(250))
        loader.report("/a", received: 4, expected: 10)
        loader.release("/a")
        _ = try await caller.value
        #expect(states == ["started", "progress", "success"])
        let last = try #require(reports.withLock { $0.last })
        #expect(last.identity == .path("/a") && last.receivedBytes == 7 && last.expectedBytes == 10)
    }

    @Test func `progress is reported at most four times a second`() async throws {
        let caller = downloader.begin("/a")
        await loader.starts(1)
        for _ in 0..<1_000 {
            clock.advance(by: .milliseconds(2))
            loader.report("/a", received: 1, expected: nil)
        }
        loader.release("/a")
        _ = try await caller.value
        #expect(states.count { $0 == "progress" } == 8)
        #expect(reports.withLock { $0.compactMap { $0.state == .progress ? $0.receivedBytes : nil } }.last == 1_000)
    }

    @Test func `a failure and a cancellation are distinguished`() async throws {
        let failing = downloader.begin("/a")
        await loader.starts(1)
        loader.release("/a", .status(500))
        await #expect(throws: DownloadError.status(500)) { try await failing.value }
        let leaving = downloader.begin("/b")
        await loader.starts(2)
        leaving.cancel()
        await ends.reached(2)
        #expect(states == ["started", "status", "started", "cancelled"])
    }

    @Test func `the end has the error, the time and the bytes`() async throws {
        let failing = downloader.begin("/a")
        await loader.starts(1)
        loader.report("/a", received: 3, expected: 10)
        clock.advance(by: .seconds(2))
        loader.release("/a", .status(500))
        await #expect(throws: DownloadError.status(500)) { try await failing.value }
        let end = try #require(lastEnd)
        #expect(end.error == .status(500) && end.receivedBytes == 3)
        #expect(end.duration == .seconds(2) && end.timings.total == .seconds(2) && end.resumedAt == nil)
    }

    @Test func `an operator cancels a download for all its callers, even past its half`() async throws {
        let callers = (1...3).map { downloader.begin("/a", receipt: "\($0)") }
        let other = downloader.begin("/b")
        await loader.starts(2)
        loader.report("/a", received: 9, expected: 10)
        let cancelled = downloader.cancelAll(of: .path("/a"))
        #expect(cancelled.downloads == 1 && cancelled.callers == 3)
        for caller in callers {
            await #expect(throws: DownloadError.receiptCanceled) { try await caller.value }
        }
        await loader.cancellations(1)
        #expect(downloader.cancelAll(of: .path("/a")).downloads == 0)
        loader.release("/b")
        #expect(try await other.value.text == "/b")
    }

    @Test func `activity is reported after a second of work, and 0.17 s after its end`() async throws {
        let caller = downloader.begin("/a")
        await loader.starts(1)
        await clock.nextWaking(at: .seconds(1))
        clock.advance(by: .milliseconds(999))
        #expect(activities.count == 0)
        clock.advance(by: .milliseconds(1))
        await activities.reached(1)
        clock.advance(by: .seconds(5))
        loader.release("/a")
        _ = try await caller.value
        await clock.nextWaking(at: .milliseconds(6_170))
        #expect(activities.count == 1)
        clock.advance(by: .milliseconds(170))
        await activities.reached(2)
        #expect(activity.withLock { $0 } == [true, false])
    }

    @Test func `neither short work nor a short pause is reported`() async throws {
        let short = downloader.begin("/a")
        await loader.starts(1)
        await clock.nextWaking(at: .seconds(1))
        clock.advance(by: .milliseconds(900))
        loader.release("/a")
        _ = try await short.value
        clock.advance(by: .milliseconds(100))
        // The monitor stops because it has nothing left to report.
        await clock.noSleepers()
        let long = downloader.begin("/b")
        await loader.starts(2)
        await clock.nextWaking(at: .seconds(2))
        clock.advance(by: .seconds(1))
        await activities.reached(1)
        loader.release("/b")
        _ = try await long.value
        await clock.nextWaking(at: .milliseconds(2_170))
        let again = downloader.begin("/c")
        await loader.starts(3)
        clock.advance(by: .milliseconds(170))
        await clock.noSleepers()
        #expect(activity.withLock { $0 } == [true])
        loader.release("/c")
        _ = try await again.value
    }
}
