import Coordination
import Downloading
import Memory
import TestSupport
import Testing

/// Memory reserved for bodies during transfers.
@Suite(.timeLimit(.minutes(1)))
struct TransferMemoryTests {
    /// Counts evictions of everything; a waiter requests one after joining the line.
    private let lastEvictions = EventCounter()

    @Test func `a transfer waits for memory before it starts`() async throws {
        let loader = StubLoader()
        let budget = MemoryBudget(limit: 1 << 20, timekeeper: ManualTimekeeper(), evict: noteEviction)
        let downloader = ImageDownloader(
            rules: DownloadRules(DownloadConfiguration()), loader: loader, cache: StubCache(),
            timekeeper: ManualTimekeeper(),
            budget: budget)
        let held = try await budget.reserve(1 << 20)
        let task = downloader.begin("/a")
        await lastEvictions.reached(1)
        #expect(budget.statistics.waiting == 1)
        #expect(loader.started.isEmpty)
        held.release()
        await loader.starts(1)
        #expect(budget.statistics.reserved > 0)
        loader.release("/a")
        #expect(try await task.value.text == "/a")
        #expect(budget.statistics.reserved == 0)
    }

    @Test func `a transfer without memory is rejected, and not remembered as its origin's failure`() async throws {
        let loader = StubLoader(isHolding: false)
        let time = ManualTimekeeper()
        let budget = MemoryBudget(limit: 1 << 20, maximumWait: .seconds(5), timekeeper: time, evict: noteEviction)
        let downloader = ImageDownloader(
            rules: DownloadRules(DownloadConfiguration()), loader: loader, cache: StubCache(), timekeeper: time,
            budget: budget)
        let held = try await budget.reserve(1 << 20)
        let task = downloader.begin("/a")
        await lastEvictions.reached(1)
        await time.sleepers(1)
        #expect(budget.statistics.waiting == 1)
        time.advance(by: .seconds(5))
        await #expect(throws: DownloadError.memoryFull) { _ = try await task.value }
        held.release()
        #expect(try await downloader.begin("/a", receipt: "again").value.text == "/a")
    }

    @Test(arguments: [true, false])
    func `a body that exceeds the memory ends its transfer, announced or not`(isAnnounced: Bool) async throws {
        let budget = MemoryBudget(limit: 1 << 20, timekeeper: ManualTimekeeper())
        let fixture = try LoaderFixture()
        let body = bytes(2 << 20)
        var large = FakeResponse.image(body)
        if !isAnnounced { large.framing = .chunked }
        fixture.origin.serve("/large", large)
        fixture.origin.serve("/small", .image(bytes(300_000)))
        let downloader = fixture.downloader(budget: budget)
        await #expect(throws: DownloadError.memoryFull) {
            _ = try await downloader.begin(url: fixture.origin.url("/large")).value
        }
        #expect(budget.statistics.reserved == 0)
        let copy = try await downloader.begin(url: fixture.origin.url("/small"), receipt: "small").value
        #expect(copy.bytes?.count == 300_000)
        #expect(budget.statistics.reserved == 0)
    }

    @Test func `a body counts for its tenant until its last user releases it`() async throws {
        let loader = StubLoader(isHolding: false)
        let budget = MemoryBudget(limit: 1 << 20, timekeeper: ManualTimekeeper())
        let cache = StubCache()
        let downloader = ImageDownloader(
            rules: DownloadRules(DownloadConfiguration()), loader: loader, cache: cache,
            timekeeper: ManualTimekeeper(), budget: budget)
        let tenant = Flow.tenant(1)
        let most = 589_824
        // The memory for sources that the tenant may use besides the body.
        let fits = { (bytes: Int) in (try? budget.reserveNow(bytes, for: .arrival, of: tenant)) != nil }
        #expect(fits(most) && !fits(most + 1))
        var copy: SourceCopy? = try await downloader.download(
            SourceRequest(identity: .path("/a"), flow: tenant), receipt: "a")
        #expect(copy?.text == "/a")
        #expect(budget.statistics.reserved == 0 && !fits(most))
        copy = nil
        #expect(fits(most))
        withExtendedLifetime(cache) {}
    }

    private var noteEviction: MemoryBudget.Evicting {
        { [lastEvictions] step in
            if step == .empty { lastEvictions.increment() }
            return 0
        }
    }
}
