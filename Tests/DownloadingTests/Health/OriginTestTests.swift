import Testing

@testable import Downloading

/// A suspected origin is tested with sources that have worked.
struct OriginTestTests {
    private var health = OriginHealth()

    /// A health for which these paths worked ten seconds ago.
    private func knowing(_ paths: [String]) throws -> OriginHealth {
        var health = health
        for path in paths { try health.transfer(path, .success, at: .zero) }
        return health
    }

    private func inquiry(_ consequence: OriginHealth.Consequence) throws -> OriginTest {
        guard case .suspected(let inquiry) = consequence else { throw DownloadError.notCached }
        return inquiry
    }

    /// Runs failing transfers until the origin is suspected.
    private func suspect(
        _ health: inout OriginHealth, _ report: OriginReport, at now: Duration = .seconds(10)
    ) throws -> OriginTest {
        for number in 0..<100 {
            if case .suspected(let inquiry) = try health.transfer("/\(number)", report, at: now) { return inquiry }
        }
        throw DownloadError.notCached
    }

    private func findings(_ reports: [(String, OriginReport)]) -> [OriginTestResult] {
        reports.map { OriginTestResult(source: .path($0.0), report: $0.1) }
    }

    @Test(arguments: [OriginReport.noResponse, .serverError])
    func `failures of any number of URLs suspend nothing while a known source works`(report: OriginReport) throws {
        var health = try knowing(["/good"])
        var inquiries = 0
        for number in 0..<10_000 {
            let now = Duration.seconds(10) + .milliseconds(number * 10)
            let consequence = try health.transfer("/\(number)", report, at: now)
            #expect(consequence != .suspended)
            guard case .suspected(let inquiry) = consequence else { continue }
            inquiries += 1
            #expect(inquiry.sources == [.path("/good")])
            let end = health.conclude(inquiry, results: findings([("/good", .success)]), at: now)
            #expect(end == .none)
        }
        #expect(!health.isSuspended)
        // One test for every five URLs without a response, and one every ten seconds for 5xx responses.
        #expect(inquiries == (report == .noResponse ? 2_000 : 10))
    }

    @Test(arguments: [OriginReport.noResponse, .serverError])
    func `a suspicion that known sources confirm suspends at once`(report: OriginReport) throws {
        var health = try knowing(["/good", "/better"])
        let inquiry = try suspect(&health, report)
        #expect(!health.isSuspended)
        let end = health.conclude(
            inquiry, results: findings([("/good", report), ("/better", report)]), at: .seconds(11))
        #expect(end == .suspended)
        #expect(health.admission(at: .seconds(11)) == .rejected(.seconds(5)))
    }

    @Test func `only one test runs at a time, and other results from the origin count meanwhile`() throws {
        var health = try knowing(["/good"])
        let inquiry = try suspect(&health, .noResponse)
        try health.fail(50, .noResponse, at: .seconds(10))
        #expect(!health.isSuspended)
        try health.transfer("/other", .response, at: .seconds(10))
        let end = health.conclude(inquiry, results: findings([("/good", .noResponse)]), at: .seconds(11))
        #expect(end == .none)
        #expect(!health.isSuspended)
    }

    @Test func `a test without a verdict suspends nothing, and its sources are forgotten`() throws {
        var health = try knowing(["/good"])
        let inquiry = try suspect(&health, .noResponse)
        let end = health.conclude(inquiry, results: findings([("/good", .inconclusive)]), at: .seconds(10))
        #expect(end == .none)
        let consequence = try health.transfer("/more", .noResponse, at: .seconds(10))
        #expect(consequence == .suspended)
    }

    @Test func `the first three sources that work are remembered, and not replaced by later ones`() throws {
        var health = try knowing((0..<100).map { "/\($0)" })
        let inquiry = try suspect(&health, .noResponse)
        #expect(inquiry.sources.map(\.url.path) == ["/0", "/1", "/2"])
    }

    @Test func `a source that fails while another works is forgotten, and the next test begins with another`() throws {
        var health = try knowing(["/mine", "/good", "/better"])
        let first = try suspect(&health, .serverError)
        _ = health.conclude(first, results: findings([("/mine", .serverError), ("/good", .success)]), at: .seconds(10))
        let second = try suspect(&health, .serverError, at: .seconds(20))
        #expect(second.sources.map(\.url.path) == ["/better", "/good"])
    }

    @Test func `a probe is preceded by known sources, and the origin resumes if one works`() throws {
        var health = try suspended()
        let probe = try health.permit(at: .seconds(15))
        let test = health.test(before: probe, of: .path("/mine"))
        let inquiry = try #require(test)
        #expect(inquiry.sources == [.path("/good")])
        _ = health.conclude(inquiry, results: findings([("/good", .serverError)]), at: .seconds(15))
        #expect(!health.isSuspended)
        // The probe's own result comes too late to count.
        let consequence = health.end(probe, report: .noResponse, of: .path("/mine"), at: .seconds(20))
        #expect(consequence == .none)
        #expect(!health.isSuspended)
    }

    @Test func `a probe continues if known sources fail, and resumes the origin if it succeeds`() throws {
        var health = try suspended()
        let probe = try health.permit(at: .seconds(15))
        let test = health.test(before: probe, of: .path("/new"))
        let inquiry = try #require(test)
        let end = health.conclude(inquiry, results: findings([("/good", .noResponse)]), at: .seconds(15))
        #expect(end == .none && health.isSuspended)
        var failing = health
        let failed = failing.end(probe, report: .noResponse, of: .path("/new"), at: .seconds(15))
        #expect(failed == .suspended)
        #expect(failing.admission(at: .seconds(15)) == .rejected(.seconds(10)))
        _ = health.end(probe, report: .success, of: .path("/new"), at: .seconds(15))
        #expect(!health.isSuspended)
    }

    @Test func `a probe after a redirect is not trusted before known sources fail as well`() throws {
        var health = try suspended()
        let probe = try health.permit(at: .seconds(15))
        let raised = health.end(probe, report: .noResponse, of: .path("/mine"), at: .seconds(16))
        let inquiry = try inquiry(raised)
        #expect(health.admission(at: .seconds(16)) == .rejected(.seconds(1)))
        var failing = health
        let failed = failing.conclude(inquiry, results: findings([("/good", .noResponse)]), at: .seconds(17))
        #expect(failed == .suspended)
        #expect(failing.admission(at: .seconds(17)) == .rejected(.seconds(10)))
        _ = health.conclude(inquiry, results: findings([("/good", .success)]), at: .seconds(17))
        #expect(!health.isSuspended)
    }

    @Test func `a known source is its own probe`() throws {
        var health = try suspended()
        let probe = try health.permit(at: .seconds(15))
        let inquiry = health.test(before: probe, of: .path("/good"))
        #expect(inquiry == nil)
        let failed = health.end(probe, report: .noResponse, of: .path("/good"), at: .seconds(15))
        #expect(failed == .suspended)
    }

    @Test func `results of a test from an earlier phase are ignored`() throws {
        var health = try suspended()
        let probe = try health.permit(at: .seconds(15))
        let test = health.test(before: probe, of: .path("/a"))
        let inquiry = try #require(test)
        _ = health.end(probe, report: .inconclusive, of: .path("/a"), at: .seconds(15))
        _ = health.conclude(inquiry, results: findings([("/good", .noResponse)]), at: .seconds(16))
        #expect(health.admission(at: .seconds(16)) != .rejected(.seconds(5)))
    }

    private func suspended() throws -> OriginHealth {
        var health = try knowing(["/good"])
        let inquiry = try suspect(&health, .noResponse)
        _ = health.conclude(inquiry, results: findings([("/good", .noResponse)]), at: .seconds(10))
        try #require(health.isSuspended)
        return health
    }
}
