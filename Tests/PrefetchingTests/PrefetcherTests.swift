import Coordination
import Downloading
import Foundation
import HTTPTypes
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailTypes
import Webhooks

@testable import DiskCaching
@testable import Prefetching
@testable import ThumbnailPipeline

@Suite(.timeLimit(.minutes(2)))
final class PrefetcherTests: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "alula-prefetch-\(UUID().uuidString)")
    private let time = ManualTimekeeper()
    private let pipeline = StubPipeline()
    /// The pipeline after a reload; nil for `pipeline`.
    private let newPipeline = Locked<StubPipeline?>(nil)
    private let isBusy = Locked(false)
    /// The beginning of valid targets.
    private let validPrefix = Locked("/")
    private let reports = Watched<[PrefetchReport]>([])
    /// The outcome of the calls that report jobs.
    private let outcome = Locked(CallOutcome.sent)

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The writable origin `out`.
    private func writable() -> WritableOrigins {
        var out = Origin(name: "out", location: .folder(path: folder.path))
        out.isWritable = true
        return WritableOrigins(DownloadRules(DownloadConfiguration(origins: [out])), web: NoLoader(), maximumReads: 8)
    }

    private func prefetcher(
        store: DiskStore? = nil, placing writable: WritableOrigins? = nil,
        _ configure: (inout PrefetchConfiguration) -> Void = { _ in }
    ) -> Prefetcher {
        var configuration = PrefetchConfiguration()
        configure(&configuration)
        let resultWriter = ResultWriter(writable)
        return Prefetcher(
            configuration: configuration,
            resolving: { [pipeline, newPipeline, validPrefix] item in
                guard item.target.hasPrefix(validPrefix.withLock { $0 }) else { return nil }
                let destination = item.destination.flatMap { try? resultWriter.destination(ExactText($0)) }
                let request = Request(source: ExactText("http://example.com\(item.target)"))
                let work = PrefetchWork(request, to: destination, by: resultWriter)
                return (work, newPipeline.withLock { $0 } ?? pipeline)
            }, isBusy: { [isBusy] in isBusy.withLock { $0 } }, store: store,
            reporting: { [reports, outcome] report, end in
                end(outcome.withLock { $0 })
                reports.withLock { $0.append(report) }
            }, logger: .silent, timekeeper: time)
    }

    private func store(noteCapacity: Int = 1 << 20) throws -> DiskStore {
        var configuration = DiskStoreConfiguration(folder: folder.path, capacities: [:], contentVersion: 1)
        configuration.noteCapacity = noteCapacity
        // A long limit, because a loaded machine is not a slow disk.
        configuration.readTimeLimit = .seconds(40)
        return try DiskStore(configuration, logger: .silent, timekeeper: time)
    }

    private func settled(_ prefetcher: Prefetcher, _ id: String) async -> PrefetchStatus? {
        _ = await eventually { await prefetcher.status(of: id)?.left == 0 }
        return await prefetcher.status(of: id)
    }

    @Test func `a job renders its thumbnails in order and counts their outcomes`() async throws {
        let prefetcher = prefetcher()
        pipeline.fail("/b")
        let id = try await prefetcher.begin(["/a", "/b", "/c"]).id
        let status = try #require(await settled(prefetcher, id))
        #expect(status.total == 3 && status.done == 2 && status.failed == 1)
        let failure = try #require(status.failures.first)
        #expect(status.failures.count == 1 && failure.target == "/b" && failure.source.hasSuffix("/b"))
        #expect(failure.code == "source_not_found" && failure.reason == "The origin has no such image.")
        #expect(pipeline.rendered == ["/a", "/b", "/c"])
        #expect(await prefetcher.status(of: "other") == nil)
    }

    @Test func `an item is rendered by the version of the settings that read it`() async throws {
        let prefetcher = prefetcher()
        let (gate, new) = (pipeline.hold(), StubPipeline())
        let id = try await prefetcher.begin(["/a", "/b"]).id
        await gate.arrivals(1)
        newPipeline.withLock { $0 = new }
        pipeline.reject("/a", times: 1)
        gate.open()
        // Rejected because of overload, it is retried later, still with the earlier settings.
        await pipeline.renders.reached(1)
        await time.nextWaking(at: .seconds(30))
        time.advance(by: .seconds(30))
        #expect(await settled(prefetcher, id)?.done == 2)
        #expect(pipeline.rendered == ["/a", "/a"] && new.rendered == ["/b"])
    }

    @Test func `a result is written to its destination, and the report has its location`() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let writable = writable()
        let before = try store()
        isBusy.withLock { $0 = true }
        let first = prefetcher(store: before, placing: writable)
        let items = [
            PrefetchItem("/a", to: "out:x/a b.jpg"), PrefetchItem("/b"), PrefetchItem("/c", to: "out:c.jpg/d"),
            PrefetchItem("/d", to: "out:c.jpg", cacheControl: "public, max-age=60"),
        ]
        let id = try await first.begin(items).id
        first.shutDown()
        await before.shutDown(timeLimit: .seconds(40))
        // The stored job includes the destinations.
        try FileManager.default.createDirectory(
            at: folder.appending(path: "c.jpg"), withIntermediateDirectories: true)
        isBusy.withLock { $0 = false }
        let after = try store()
        let second = prefetcher(store: after, placing: writable)
        second.resume()
        let status = try #require(await settled(second, id))
        #expect(status.done == 3 && status.failures.map(\.code) == ["destination_failed"])
        #expect(status.results.map(\.target) == ["/a", "/c"])
        let placed = try #require(status.results.first)
        #expect(placed.source.hasSuffix("/a") && placed.stored.location == "out:x/a b.jpg")
        let file = try #require(try await writable["out"]?.object(named: "x/a b.jpg", atMost: 1 << 20))
        #expect(file.count == placed.stored.bytes && placed.stored.eTag.hasPrefix("\""))
        await after.shutDown(timeLimit: .seconds(40))
        writable.shutDown()
    }

    @Test func `a canceled job completes the thumbnail in progress, begins no other and is reported once`() async throws
    {
        let gate = pipeline.hold()
        let store = try store()
        let prefetcher = prefetcher(store: store)
        let id = try await prefetcher.begin(["/a", "/b"], callback: "http://h/").id
        let other = try await prefetcher.begin(["/c"]).id
        await gate.arrivals(1)
        #expect(await prefetcher.jobs().map(\.id) == [id, other])
        #expect(await prefetcher.cancel(id))
        #expect(await !prefetcher.cancel("unknown"))
        let status = try #require(await prefetcher.status(of: id))
        #expect(status.state == .canceled && status.total == 2 && status.left == 0)
        gate.open()
        #expect(await settled(prefetcher, other)?.done == 1)
        #expect(pipeline.rendered == ["/a", "/c"])
        #expect(await prefetcher.status(of: id)?.done == 1)
        for ended in [id, other] { #expect(await prefetcher.cancel(ended)) }
        #expect(await prefetcher.jobs().map(\.status.state) == [.canceled, .finished])
        await reports.reached { $0.count == 2 }
        #expect(reports.withLock { $0.map(\.id) } == [id, other])
        await store.shutDown(timeLimit: .seconds(40))
        // The job does not continue in the next process.
        let next = try self.store()
        let resumed = self.prefetcher(store: next)
        resumed.resume()
        #expect(await resumed.status(of: id) == nil)
        await next.shutDown(timeLimit: .seconds(40))
    }

    @Test func `of many failures the first hundred are explained`() async throws {
        let targets = (0..<103).map { "/\($0)" }
        for target in targets { pipeline.fail(target) }
        let prefetcher = prefetcher()
        let status = try #require(await settled(prefetcher, try await prefetcher.begin(targets).id))
        #expect(status.failed == 103 && status.failures.map(\.target) == Array(targets.prefix(100)))
    }

    @Test func `concurrent thumbnails respect the limit`() async throws {
        let gate = pipeline.hold()
        let prefetcher = prefetcher { $0.maximumActive = 2 }
        let id = try await prefetcher.begin(["/a", "/b", "/c", "/d"]).id
        let other = try await prefetcher.begin(["/e"]).id
        await gate.arrivals(2)
        #expect(await prefetcher.status(of: id) == PrefetchStatus(total: 4, done: 0, failed: 0))
        gate.open()
        #expect(await settled(prefetcher, id)?.done == 4)
        #expect(await settled(prefetcher, other)?.done == 1)
        #expect(pipeline.maximumAtOnce == 2)
    }

    @Test func `nothing begins while readers wait`() async throws {
        isBusy.withLock { $0 = true }
        let prefetcher = prefetcher()
        let id = try await prefetcher.begin(["/a"]).id
        await time.nextWaking(at: time.now + PrefetchConfiguration().pause)
        time.advance(by: .seconds(1))
        await time.nextWaking(at: time.now + PrefetchConfiguration().pause)
        #expect(pipeline.rendered.isEmpty)
        isBusy.withLock { $0 = false }
        time.advance(by: .seconds(1))
        #expect(await settled(prefetcher, id)?.done == 1)
    }

    @Test func `an overloaded item is retried after Retry-After, up to a limit`() async throws {
        pipeline.reject("/a", times: 4)
        pipeline.reject("/b", times: 5)
        let prefetcher = prefetcher()
        let id = try await prefetcher.begin(["/a", "/b"]).id
        for (pause, attempts) in [1, 2, 3, 4, 6, 7, 8, 9].enumerated() {
            let end = Duration.seconds(30 * (pause + 1))
            await time.nextWaking(at: end)
            #expect(pipeline.rendered.count == attempts)
            time.advance(by: .seconds(30))
        }
        let status = try #require(await settled(prefetcher, id))
        #expect(status.done == 1 && status.failures.map(\.target) == ["/b"])
        #expect(status.failures.first?.code == "overloaded")
        #expect(pipeline.rendered.count == 10)
    }

    @Test func `a thumbnail of a suspended origin waits for its Retry-After`() async throws {
        pipeline.suspend("/a", seconds: 5)
        let prefetcher = prefetcher()
        let id = try await prefetcher.begin(["/a"]).id
        await time.nextWaking(at: .seconds(5))
        #expect(await prefetcher.status(of: id) == PrefetchStatus(total: 1, done: 0, failed: 0))
        time.advance(by: .seconds(5))
        #expect(await settled(prefetcher, id)?.done == 1)
    }

    @Test func `a thumbnail that takes too long is canceled`() async throws {
        time.advance(by: .seconds(100))
        let gate = pipeline.hold()
        let prefetcher = prefetcher()
        let id = try await prefetcher.begin(["/a"]).id
        await gate.arrivals(1)
        await time.sleepers(1)
        time.advance(by: .seconds(15))
        #expect(await settled(prefetcher, id)?.failed == 1)
    }

    @Test func `ended jobs are forgotten after their time, and earlier if memory is short`() async throws {
        let prefetcher = prefetcher { $0.maximumJobs = 2 }
        let first = try await prefetcher.begin(["/a"]).id
        _ = await settled(prefetcher, first)
        let second = try await prefetcher.begin(["/a"]).id
        _ = await settled(prefetcher, second)
        let third = try await prefetcher.begin(["/a"]).id
        #expect(await prefetcher.status(of: first) == nil)
        _ = await settled(prefetcher, third)
        time.advance(by: .seconds(3_600))
        for id in [second, third] { #expect(await prefetcher.status(of: id) == nil) }
    }

    @Test func `a job beyond the limit is rejected`() async throws {
        let gate = pipeline.hold()
        let prefetcher = prefetcher { $0.maximumJobs = 1 }
        let id = try await prefetcher.begin(["/a"]).id
        await gate.arrivals(1)
        await #expect(throws: TooManyPrefetchJobs.self) { try await prefetcher.begin(["/b"]) }
        gate.open()
        #expect(await settled(prefetcher, id)?.done == 1)
    }

    @Test func `a job continues after a restart if there is a disk`() async throws {
        let before = try store()
        let first = prefetcher(store: before)
        pipeline.fail("/b")
        isBusy.withLock { $0 = true }
        let id = try await first.begin(["/a", "/b", "/c"]).id
        let other = try await first.begin(["/d"]).id
        for _ in 0..<2 {
            await time.nextWaking(at: time.now + PrefetchConfiguration().pause)
            isBusy.withLock { $0 = false }
            let rendered = pipeline.rendered.count
            pipeline.onRender { [isBusy] in isBusy.withLock { $0 = true } }
            time.advance(by: .seconds(1))
            await pipeline.renders.reached(rendered + 1)
        }
        await time.nextWaking(at: time.now + PrefetchConfiguration().pause)
        first.shutDown()
        await before.shutDown(timeLimit: .seconds(40))
        #expect(pipeline.rendered == ["/a", "/b"])

        isBusy.withLock { $0 = false }
        pipeline.onRender {}
        let after = try store()
        let second = prefetcher(store: after)
        second.resume()
        #expect(await settled(second, id) == PrefetchStatus(total: 3, done: 2, failed: 1))
        #expect(await settled(second, other)?.done == 1)
        #expect(pipeline.rendered.sorted() == ["/a", "/b", "/c", "/d"])
        await after.shutDown(timeLimit: .seconds(40))
    }

    @Test func `a stored target that is no longer valid fails, and the others are rendered`() async throws {
        let before = try store()
        isBusy.withLock { $0 = true }
        validPrefix.withLock { $0 = "" }
        let first = prefetcher(store: before)
        let id = try await first.begin(["old", "/a"]).id
        // The first prefetcher has read the target, and waits.
        await time.nextWaking(at: .milliseconds(25))
        first.shutDown()
        await before.shutDown(timeLimit: .seconds(40))
        isBusy.withLock { $0 = false }
        validPrefix.withLock { $0 = "/" }
        let after = try store()
        let second = prefetcher(store: after)
        second.resume()
        let status = try #require(await settled(second, id))
        #expect(status.total == 2 && status.done == 1 && status.failures.map(\.code) == ["bad_parameter"])
        await after.shutDown(timeLimit: .seconds(40))
    }

    @Test func `a job of an earlier process is known to the first query, even with a slow disk`() async throws {
        let before = try store()
        isBusy.withLock { $0 = true }
        let first = prefetcher(store: before)
        let id = try await first.begin(["/a"]).id
        first.shutDown()
        await before.shutDown(timeLimit: .seconds(40))

        let after = try store()
        let hold = await after.hold()
        let second = prefetcher(store: after) { $0.maximumJobs = 1 }
        second.resume()
        let status = Task { await second.status(of: id) }
        let job = Task { try await second.begin(["/b"]) }
        hold.release()
        #expect(await status.value == PrefetchStatus(total: 1, done: 0, failed: 0))
        // The earlier job takes the only place.
        await #expect(throws: TooManyPrefetchJobs.self) { try await job.value }
        second.shutDown()
        await after.shutDown(timeLimit: .seconds(40))
    }

    @Test func `concurrent jobs respect the limit, though each is stored first`() async throws {
        let store = try store()
        isBusy.withLock { $0 = true }
        let prefetcher = prefetcher(store: store) { $0.maximumJobs = 2 }
        let hold = await store.hold()
        let jobs = (0..<5).map { _ in Task.immediate { try? await prefetcher.begin(["/a"]) } }
        hold.release()
        var begun: [PrefetchJob] = []
        for job in jobs { if let job = await job.value { begun.append(job) } }
        #expect(begun.count == 2 && begun.allSatisfy(\.survivesRestart))
        #expect(await store.notes().count == 4)
        prefetcher.shutDown()
        await store.shutDown(timeLimit: .seconds(40))
    }

    @Test func `a job that cannot be stored reports it, and runs anyway`() async throws {
        let store = try store(noteCapacity: 4_096)
        let prefetcher = prefetcher(store: store)
        let small = try await prefetcher.begin(["/a"])
        let large = try await prefetcher.begin((0..<1_000).map { "/large\($0)" })
        #expect(small.survivesRestart && !large.survivesRestart)
        #expect(await settled(prefetcher, small.id)?.done == 1)
        #expect(await settled(prefetcher, large.id)?.done == 1_000)
        #expect(store.statistics.failures == 0 && store.statistics.isWorking)
        await store.shutDown(timeLimit: .seconds(40))
    }

    private func reported(_ count: Int) async { await reports.reached { $0.count == count } }

    @Test func `each job reports its end once`() async throws {
        pipeline.fail("/b")
        let prefetcher = prefetcher()
        let first = try await prefetcher.begin(["/a", "/b"], callback: "http://h/")
        let second = try await prefetcher.begin(["/c"])
        for job in [first, second] { _ = await settled(prefetcher, job.id) }
        await reported(2)
        let told = reports.withLock { $0 }
        #expect(told.map(\.id) == [first.id, second.id] && told.map(\.callback) == ["http://h/", nil])
        #expect(told.map(\.status.done) == [1, 1] && told[0].status.failures.map(\.target) == ["/b"])
    }

    @Test(arguments: [(CallOutcome.dropped, 1), (.sent, 0), (.failed, 0)])
    func `a call prevented by the shutdown is rendered by the next process`(
        outcome: CallOutcome, calls: Int
    ) async throws {
        self.outcome.withLock { $0 = outcome }
        let before = try store()
        let first = prefetcher(store: before)
        let id = try await first.begin(["/a"], callback: "http://h/").id
        _ = await settled(first, id)
        await reported(1)
        first.shutDown()
        await before.shutDown(timeLimit: .seconds(40))
        reports.withLock { $0 = [] }
        let after = try store()
        let second = prefetcher(store: after)
        second.resume()
        #expect(await second.status(of: id)?.done == 1)
        let owed: [String?] = reports.withLock { $0.map(\.callback) }
        #expect(owed == Array(repeating: "http://h/", count: calls))
        await after.shutDown(timeLimit: .seconds(40))
    }

    @Test func `without a disk no job claims to survive a restart`() async throws {
        #expect(try await prefetcher().begin(["/a"]).survivesRestart == false)
    }
}
