import Coordination
import Downloading
import TestSupport
import Testing
import Text

/// The number of concurrent transfers, and their order.
@Suite(.timeLimit(.minutes(1)))
struct ImageDownloaderQueueTests {
    private let loader = StubLoader()
    private let timekeeper = ManualTimekeeper()
    /// Counts transfers that have ended and released their slots.
    private let ends = EventCounter()

    @Test func `with a limit of one, one runs and one waits, and both finish`() async throws {
        let downloader = downloader { $0.maximumActiveDownloads = 1 }
        let tasks = ["/a", "/b"].map { downloader.begin($0) }
        #expect(downloader.activeRequestCount == 1)
        #expect(downloader.queuedRequestCount == 1)
        #expect(downloader.fetches.map(\.isRunning) == [true, false])
        await loader.starts(1)
        loader.releaseAll()
        for task in tasks { _ = try await task.value }
        #expect(loader.started == ["/a", "/b"])
        #expect(loader.highestParallelism == 1)
        #expect(downloader.activeRequestCount == 0)
    }

    @Test func `a thousand URLs at a limit of four all succeed, never more than four at once`() async throws {
        let downloader = downloader { $0.maximumActiveDownloads = 4 }
        let tasks = (0..<1_000).map { downloader.begin("/\($0)") }
        #expect(downloader.activeRequestCount == 4)
        for count in 1...1_000 {
            await loader.starts(count)
            loader.release(try #require(loader.running.first))
        }
        for (number, task) in tasks.enumerated() { #expect(try await task.value.text == "/\(number)") }
        #expect(loader.highestParallelism <= 4)
        #expect(loader.started.count == 1_000)
    }

    @Test(arguments: [
        (DownloadConfiguration.Order.fifo, ["/x", "/a", "/b", "/c"]), (.lifo, ["/x", "/c", "/b", "/a"]),
    ])
    func `queued downloads start in the configured order`(
        order: DownloadConfiguration.Order, started: [String]
    ) async throws {
        let downloader = downloader {
            $0.maximumActiveDownloads = 1
            $0.order = order
        }
        let tasks = ["/x", "/a", "/b", "/c"].map { downloader.begin($0) }
        await loader.starts(1)
        loader.releaseAll()
        for task in tasks { _ = try await task.value }
        #expect(loader.started == started)
    }

    @Test func `under LIFO a request older than half its time takes precedence`() async throws {
        let downloader = downloader {
            $0.maximumActiveDownloads = 1
            $0.order = .lifo
        }
        let first = ["/x", "/a"].map { downloader.begin($0, deadline: .seconds(10)) }
        timekeeper.advance(by: .seconds(5))
        let later = ["/b", "/c"].map { downloader.begin($0, deadline: .seconds(15)) }
        await loader.starts(1)
        loader.releaseAll()
        for task in first + later { _ = try await task.value }
        #expect(loader.started == ["/x", "/a", "/c", "/b"])
    }

    @Test func `a stalled host does not delay another's request`() async throws {
        let downloader = downloader {
            $0.maximumActiveDownloads = 4
            $0.maximumActiveDownloadsPerHost = 2
        }
        let stalled = (0..<4).map { downloader.begin("/s\($0)", host: "stalled.example") }
        #expect(downloader.activeRequestCount == 2)
        let other = downloader.begin("/o", host: "other.example")
        await loader.starts(3)
        loader.release("/o")
        _ = try await other.value
        #expect(downloader.queuedRequestCount == 2)
        loader.releaseAll()
        for task in stalled { _ = try await task.value }
    }

    @Test func `a queued request of a blocked host is passed over`() async throws {
        let downloader = downloader {
            $0.maximumActiveDownloads = 2
            $0.maximumActiveDownloadsPerHost = 1
        }
        let tasks = [
            downloader.begin("/1", host: "a.example"), downloader.begin("/2", host: "b.example"),
            downloader.begin("/3", host: "a.example"), downloader.begin("/4", host: "c.example"),
        ]
        await loader.starts(2)
        loader.release("/2")
        await loader.starts(3)
        #expect(loader.running.sorted() == ["/1", "/4"])
        loader.releaseAll()
        for task in tasks { _ = try await task.value }
    }

    @Test(arguments: DownloadConfiguration.Order.allCases)
    func `a queued request of a host without transfers takes precedence`(
        order: DownloadConfiguration.Order
    ) async throws {
        let downloader = downloader {
            $0.maximumActiveDownloads = 2
            $0.order = order
        }
        let tasks = [
            downloader.begin("/1", host: "a.example"), downloader.begin("/2", host: "a.example"),
            downloader.begin("/3", host: "a.example"), downloader.begin("/4", host: "b.example"),
            downloader.begin("/5", host: "a.example"),
        ]
        await loader.starts(2)
        loader.release("/1")
        await loader.starts(3)
        #expect(loader.running.sorted() == ["/2", "/4"])
        loader.releaseAll()
        for task in tasks { _ = try await task.value }
    }

    @Test func `slow hosts with a full queue delay no other host`() async throws {
        let downloader = downloader { $0.maximumActiveDownloadsPerHost = 8 }
        let slow = (0..<64).map { downloader.begin("/\($0)", host: "slow\($0 / 8).example") }
        #expect(downloader.queuedRequestCount > 0)
        let other = downloader.begin("/other", host: "other.example")
        await loader.starts(downloader.activeRequestCount)
        #expect(loader.running.contains("/other"))
        loader.release("/other")
        _ = try await other.value
        timekeeper.advance(by: .seconds(3))
        // The first two hosts' transfers end; the others, slow by now, use at most half of the slots.
        for number in 0..<16 { loader.release("/\(number)") }
        await ends.reached(17)
        #expect(downloader.activeRequestCount == 16)
        let more = (0..<8).map { downloader.begin("/more\($0)", host: "other.example") }
        let isRunning = downloader.fetches.suffix(8).map(\.isRunning)
        #expect(isRunning == Array(repeating: true, count: 8))
        loader.releaseAll()
        for task in slow + more { _ = try await task.value }
    }

    @Test func `canceling a queued download frees no slot`() async throws {
        let downloader = downloader { $0.maximumActiveDownloads = 3 }
        let running = (0..<3).map { downloader.begin("/\($0)") }
        let queued = ["/A", "/B"].map { downloader.begin($0) }
        queued[0].cancel()
        await #expect(throws: CancellationError.self) { try await queued[0].value }
        #expect(downloader.activeRequestCount == 3)
        #expect(downloader.queuedRequestCount == 1)
        await loader.starts(3)
        #expect(!loader.started.contains("/B"))
        loader.releaseAll()
        for task in running + queued[1...] { _ = try await task.value }
        #expect(!loader.started.contains("/A"))
        #expect(loader.highestParallelism <= 3)
    }

    @Test(arguments: [
        DownloadError.notFound(404), .status(500), .unreachable("name"), .tls("certificate"), .timedOut, .tooLarge,
        .sourceNotAllowed(""), .protocolError("cut"),
    ])
    func `every end frees its slot once`(error: DownloadError) async throws {
        let loader = StubLoader(isHolding: false)
        let downloader = downloader(loader: loader) { $0.maximumActiveDownloads = 3 }
        loader.fail(with: error)
        for number in 0..<6 {
            await #expect(throws: error) { try await downloader.begin("/\(number)").value }
        }
        loader.fail(with: nil)
        #expect(try await downloader.begin("/good").value.text == "/good")
        await ends.reached(7)
        #expect(downloader.activeRequestCount == 0)
    }

    @Test func `raising the limit starts queued downloads at once`() async throws {
        let downloader = downloader { $0.maximumActiveDownloads = 1 }
        let tasks = (0..<6).map { downloader.begin("/\($0)") }
        #expect(downloader.queuedRequestCount == 5)
        var configuration = DownloadConfiguration()
        configuration.maximumActiveDownloads = 4
        downloader.setRules(DownloadRules(configuration))
        #expect(downloader.activeRequestCount == 4)
        #expect(downloader.queuedRequestCount == 2)
        await loader.starts(4)
        loader.releaseAll()
        for task in tasks { _ = try await task.value }
    }

    @Test func `a full queue rejects new fetches and lets callers join existing ones`() async throws {
        let downloader = downloader {
            $0.maximumActiveDownloads = 1
            $0.maximumQueuedDownloads = 2
        }
        let tasks = ["/a", "/b", "/c"].map { downloader.begin($0) }
        await #expect(throws: DownloadError.queueFull) { try await downloader.begin("/d").value }
        let joined = downloader.begin("/c")
        loader.releaseAll()
        for task in tasks + [joined] { _ = try await task.value }
        #expect(!loader.started.contains("/d"))
    }

    @Test func `activity is counted by the slots`() async throws {
        let downloader = downloader { $0.maximumActiveDownloads = 1 }
        let tasks = ["/a", "/b"].map { downloader.begin($0) }
        #expect(!downloader.isActive)
        timekeeper.advance(by: .milliseconds(600))
        await loader.starts(1)
        loader.release("/a")
        await loader.starts(2)
        timekeeper.advance(by: .milliseconds(400))
        #expect(downloader.isActive)
        loader.release("/b")
        for task in tasks { _ = try await task.value }
        timekeeper.advance(by: .milliseconds(169))
        #expect(downloader.isActive)
        timekeeper.advance(by: .milliseconds(1))
        #expect(!downloader.isActive)
    }

    @Test func `operators see each fetch with its progress`() async throws {
        let downloader = downloader { $0.maximumActiveDownloads = 1 }
        let tasks = [downloader.begin("/a?x=1", receipt: "r1"), downloader.begin("/b", receipt: "r2")]
        await loader.starts(1)
        loader.report("/a", received: 10, expected: 30)
        timekeeper.advance(by: .seconds(2))
        let fetches = downloader.fetches
        #expect(fetches.map(\.source) == ["http://example.com/a?x=1", "http://example.com/b"])
        #expect(fetches.map(\.receivedBytes) == [10, 0])
        #expect(fetches.map(\.expectedBytes) == [30, nil])
        #expect(fetches.map(\.age) == [.seconds(2), .seconds(2)])
        #expect(fetches.map(\.receipts) == [["r1"], ["r2"]])
        loader.releaseAll()
        for task in tasks { _ = try await task.value }
    }

    @Test func `every transfer's end is reported to the observer`() async throws {
        let outcomes = Locked<[DownloadOutcome]>([])
        let downloader = ImageDownloader(
            rules: DownloadRules(DownloadConfiguration()), loader: loader, cache: StubCache(), timekeeper: timekeeper,
            observer: DownloadObserver(onFinish: { [ends] transfer in
                outcomes.withLock { $0.append(transfer.outcome) }
                ends.increment()
            }))
        let good = downloader.begin("/good")
        await loader.starts(1)
        loader.release("/good")
        _ = try await good.value
        let bad = downloader.begin("/bad")
        await loader.starts(2)
        loader.release("/bad", .timedOut)
        _ = await bad.result
        let gone = downloader.begin("/gone")
        await loader.starts(3)
        gone.cancel()
        await ends.reached(3)
        #expect(outcomes.withLock { $0 } == [.success, .timedOut, .canceled])
    }

    @Test func `a transfer in progress ends for all callers of a held origin, and no other begins`() async throws {
        let downloader = ImageDownloader(
            rules: DownloadRules(DownloadConfiguration()), loader: CircuitBreaker(loader, timekeeper: timekeeper),
            cache: StubCache(), timekeeper: timekeeper)
        let first = downloader.begin("/a")
        await loader.starts(1)
        downloader.setHeld(true, origin: try downloader.origin(of: "http://example.com/x"))
        let second = downloader.begin("/a")
        await #expect(throws: DownloadError.originHeld) { try await downloader.begin("/b").value }
        loader.release("/a")
        for caller in [first, second] { _ = try await caller.value }
        #expect(loader.started == ["/a"])
    }

    @Test func `the wait for a slot is reported when the transfer has it`() async throws {
        let waits = Locked<[Duration]>([])
        var configuration = DownloadConfiguration()
        configuration.maximumActiveDownloads = 1
        let downloader = ImageDownloader(
            rules: DownloadRules(configuration), loader: loader, cache: StubCache(), timekeeper: timekeeper,
            observer: DownloadObserver(onStart: { wait in waits.withLock { $0.append(wait) } }))
        let first = downloader.begin("/a")
        await loader.starts(1)
        let second = downloader.begin("/b")
        timekeeper.advance(by: .seconds(3))
        loader.release("/a")
        _ = try await first.value
        await loader.starts(2)
        #expect(waits.withLock { $0 } == [.zero, .seconds(3)])
        loader.releaseAll()
        _ = try await second.value
    }

    private func downloader(
        loader: StubLoader? = nil, _ change: (inout DownloadConfiguration) -> Void
    ) -> ImageDownloader {
        var configuration = DownloadConfiguration()
        configuration.maximumActiveDownloadsPerHost = 1_000
        change(&configuration)
        return ImageDownloader(
            rules: DownloadRules(configuration), loader: loader ?? self.loader, cache: StubCache(),
            timekeeper: timekeeper,
            observer: DownloadObserver(onFinish: { [ends] _ in ends.increment() }))
    }
}
