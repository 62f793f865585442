import Coordination
import Recipes
import Testing
import Text

@testable import Prefetching
@testable import ThumbnailPipeline

/// Jobs in memory, which can be read for a while after their end.
struct PrefetchJobsTests {
    private let budget = MemoryBudget()
    private let items = (0..<1_000).map { PrefetchItem("/thumbnail?url=photos:\($0).jpg&w=300", to: "out:\($0)") }

    private func admit(
        _ id: ExactText, _ count: Int, to jobs: inout PrefetchJobs
    ) throws -> [ExactText]? {
        let items = Array(items.prefix(count))
        let memory = try budget.reserveNow(PrefetchJobs.byteCount(of: items))
        return jobs.admit(id, items: items, memory: memory, at: .zero)
    }

    private func result(of assignment: PrefetchJobs.Assignment) -> PrefetchResult {
        let stored = StoredResult(
            location: assignment.item.destination ?? "", mediaType: "image/webp", bytes: 1,
            size: PixelSize(width: 1, height: 1), eTag: "\"01234567890123456789ab\"")
        return PrefetchResult(target: assignment.item.target, source: "photos:1.jpg", stored: stored)
    }

    /// Renders all remaining thumbnails.
    private func finish(_ jobs: inout PrefetchJobs) -> [PrefetchReport] {
        var reports: [PrefetchReport] = []
        while let assignment = jobs.nextAssignment() {
            let end = jobs.finish(assignment, with: .rendered(result(of: assignment)), at: .zero)
            if let report = end.report { reports.append(report) }
        }
        return reports
    }

    @Test func `an ended job uses only the memory of its report`() throws {
        var jobs = PrefetchJobs(PrefetchConfiguration())
        _ = try admit("a", 1_000, to: &jobs)
        let reserved = budget.statistics.reserved
        #expect(reserved > 1_000 * 300)
        let reports = finish(&jobs)
        #expect(reports.map(\.status.results.count) == [1_000])
        #expect(jobs.status(of: "a", at: .zero)?.results.map(\.target) == items.map(\.target))
        #expect(1..<reserved / 4 * 3 ~= budget.statistics.reserved)
    }

    @Test func `a canceled job has its counts, also of the thumbnail in progress, and no items`() throws {
        var jobs = PrefetchJobs(PrefetchConfiguration())
        _ = try admit("a", 1_000, to: &jobs)
        let next = jobs.nextAssignment()
        let assignment = try #require(next)
        let report = jobs.cancel("a", at: .zero)
        #expect(report?.status.total == 1_000)
        #expect(budget.statistics.reserved == 0)
        let end = jobs.finish(assignment, with: .rendered(result(of: assignment)), at: .zero)
        #expect(end.outcomes == nil && end.report == nil)
        let status = try #require(jobs.status(of: "a", at: .zero))
        #expect(status.total == 1_000 && status.done == 1 && status.left == 0 && status.results.count == 1)
        let more = jobs.nextAssignment()
        #expect(more?.index == nil)
    }

    @Test func `a new job replaces the oldest ended ones whose reports are beyond the limit`() throws {
        var configuration = PrefetchConfiguration()
        configuration.maximumReportBytes = 700
        var jobs = PrefetchJobs(configuration)
        for (id, forgotten) in [("a", []), ("b", []), ("c", ["a"]), ("d", ["b"])] as [(ExactText, [ExactText])] {
            let replaced = try admit(id, 2, to: &jobs)
            #expect(replaced == forgotten)
            _ = finish(&jobs)
        }
        #expect(jobs.statuses(at: .zero).map(\.id) == ["c", "d"])
        let replaced = try admit("e", 1_000, to: &jobs)
        #expect(replaced == ["c"])
        #expect(jobs.status(of: "d", at: .zero)?.results.count == 2)
    }
}
