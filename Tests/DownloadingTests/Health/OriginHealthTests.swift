import Testing

@testable import Downloading

/// Suspension of an origin, and its end.
struct OriginHealthTests {
    private var health = OriginHealth()

    @Test func `an origin's state is unknown at first, and it is contacted`() throws {
        var health = health
        #expect(health.isReachable == nil)
        #expect(!health.isSuspended)
        let consequence = try health.transfer("/a", .inconclusive, at: .zero)
        #expect(consequence == .none)
        #expect(health.isReachable == nil)
    }

    @Test func `five consecutive URLs without a response suspend it, four do not`() throws {
        var health = health
        for _ in 0..<3 {
            try health.fail(4, .noResponse, at: .seconds(1))
            #expect(health.isReachable == false)
            #expect(!health.isSuspended)
            try health.transfer("/status", .response, at: .seconds(1))
        }
        // Inconclusive results neither count as failures nor end the series.
        for number in 0..<4 {
            try health.transfer("/\(number)", .noResponse, at: .seconds(20))
            try health.transfer("/n\(number)", .inconclusive, at: .seconds(20))
        }
        #expect(!health.isSuspended)
        let consequence = try health.transfer("/5", .noResponse, at: .seconds(20))
        #expect(consequence == .suspended)
        #expect(health.admission(at: .seconds(20)) == .rejected(.seconds(5)))
        #expect(health.admission(at: .seconds(24)) == .rejected(.seconds(1)))
    }

    @Test(arguments: [OriginReport.serverError, .broken, .response])
    func `any sign of life ends the series`(sign: OriginReport) throws {
        var health = health
        for _ in 0..<3 {
            try health.fail(4, .noResponse, at: .seconds(1))
            try health.transfer("/sign", sign, at: .seconds(1))
        }
        #expect(!health.isSuspended)
    }

    @Test func `one silent URL does not affect others`() throws {
        var health = health
        for _ in 0..<19 { try health.transfer("/slow", .noResponse, at: .zero) }
        #expect(!health.isSuspended)
    }

    @Test func `silence does not count if the origin has responded since the transfer began`() throws {
        var health = health
        let silent = try (0..<50).map { _ in try health.permit(at: .zero) }
        try health.transfer("/good", .response, at: .seconds(4))
        for (number, permit) in silent.enumerated() {
            let consequence = health.end(permit, report: .noResponse, of: .path("/\(number)"), at: .seconds(5))
            #expect(consequence == .none)
        }
    }

    @Test func `there is no verdict while a transfer receives`() throws {
        var health = health
        let progress = TransferProgress()
        let receiving = try health.permit(progress, at: .zero)
        progress.beginResponse()
        try health.fail(50, .noResponse, at: .seconds(1))
        #expect(!health.isSuspended)
        _ = health.end(receiving, report: .broken, of: .path("/large"), at: .seconds(2))
        try health.fail(5, .noResponse, at: .seconds(2))
        #expect(health.isSuspended)
    }

    @Test func `twenty 5xx responses for five URLs suspend it, without any other response`() throws {
        var health = health
        for number in 0..<19 { try health.transfer("/\(number)", .serverError, at: .seconds(number / 2)) }
        #expect(!health.isSuspended)
        try health.transfer("/20", .serverError, at: .seconds(9))
        #expect(health.isSuspended)
    }

    @Test func `5xx of four URLs never suspend it`() throws {
        var health = health
        for number in 0..<200 { try health.transfer("/\(number % 4)", .serverError, at: .zero) }
        #expect(!health.isSuspended)
    }

    @Test(arguments: [OriginReport.response, .broken])
    func `5xx never suspend it if another response arrives within ten seconds`(other: OriginReport) throws {
        var health = health
        for second in 0..<100 {
            if second % 9 == 0 { try health.transfer("/other", other, at: .seconds(second)) }
            try health.fail(50, .serverError, at: .seconds(second))
        }
        #expect(!health.isSuspended)
    }

    @Test func `events older than ten seconds do not count`() throws {
        var health = health
        try health.fail(19, .serverError, at: .zero)
        try health.fail(19, .serverError, at: .seconds(10))
        #expect(!health.isSuspended)
    }

    @Test func `a suspended origin is probed by one transfer, and resumes with its success`() throws {
        var health = try suspended(.noResponse, at: .zero)
        #expect(health.admission(at: .milliseconds(4_999)) == .rejected(.milliseconds(1)))
        let probe = try health.permit(at: .seconds(5))
        #expect(health.admission(at: .seconds(5)) == .rejected(.seconds(1)))
        #expect(health.isSuspended)
        _ = health.end(probe, report: .success, of: .path("/a"), at: .seconds(6))
        #expect(!health.isSuspended)
        #expect(health.isReachable == true)
        // Earlier failures are forgotten: five new ones are needed.
        try health.fail(4, .noResponse, at: .seconds(6))
        #expect(!health.isSuspended)
    }

    @Test func `a 5xx is a sign of life of a silent origin, not of one that returned only 5xx`() throws {
        var silent = try suspended(.noResponse, at: .zero)
        try silent.transfer("/a", .serverError, at: .seconds(5))
        #expect(!silent.isSuspended)
        var failing = try suspended(.serverError, at: .zero)
        try failing.transfer("/a", .serverError, at: .seconds(5))
        #expect(failing.isSuspended)
        #expect(failing.admission(at: .seconds(6)) == .rejected(.seconds(5)))
    }

    @Test func `for a second all URLs probe an origin without a proven source, so no client's 5xx decide`() throws {
        var health = try suspended(.serverError, at: .zero)
        for round in 0..<10 {
            let start = Duration.seconds(5 + 6 * round)
            for attack in 0..<3 { try health.transfer("/attack/\(round)/\(attack)", .serverError, at: start) }
            #expect(health.isSuspended)
            #expect(health.admission(at: start + .seconds(1)) == .rejected(.seconds(5)))
        }
        let attack = try health.permit(at: .seconds(65))
        let honest = try health.permit(at: .milliseconds(65_900))
        _ = health.end(attack, report: .serverError, of: .path("/attack"), at: .milliseconds(65_950))
        _ = health.end(honest, report: .success, of: .path("/good"), at: .milliseconds(65_990))
        #expect(!health.isSuspended && health.hasWorked)
    }

    @Test func `the source of a probe that succeeds too late is tested first the next time`() throws {
        var health = try suspended(.serverError, at: .zero)
        let late = try health.permit(at: .seconds(5))
        let rejection = health.admit(TransferProgress(), at: .seconds(7))
        #expect(rejection == .rejected(.seconds(4)))
        _ = health.end(late, report: .success, of: .path("/good"), at: .seconds(8))
        #expect(health.isSuspended && health.hasWorked)
        let probe = try health.permit(at: .seconds(11))
        #expect(health.test(before: probe, of: .path("/attack"))?.sources == [.path("/good")])
    }

    @Test func `each failed probe doubles the pause, up to a minute`() throws {
        var health = try suspended(.noResponse, at: .zero)
        var now = Duration.seconds(5)
        for pause in [10, 20, 40, 60, 60] {
            let consequence = try health.transfer("/a", .noResponse, at: now)
            #expect(consequence == .suspended)
            #expect(health.admission(at: now) == .rejected(.seconds(pause)))
            now += .seconds(pause)
        }
        try health.transfer("/a", .response, at: now)
        try health.fail(5, .noResponse, at: now)
        #expect(health.admission(at: now) == .rejected(.seconds(5)))
    }

    @Test func `a probe without a verdict makes way for the next`() throws {
        var health = try suspended(.noResponse, at: .zero)
        try health.transfer("/a", .inconclusive, at: .seconds(6))
        try health.transfer("/a", .success, at: .seconds(6))
        #expect(!health.isSuspended)
    }

    @Test func `transfers from before the suspension neither end nor extend it`() throws {
        var health = health
        let early = try health.permit(at: .zero)
        let other = try health.permit(at: .zero)
        try health.fail(5, .noResponse, at: .zero)
        _ = health.end(early, report: .success, of: .path("/a"), at: .seconds(1))
        #expect(health.isSuspended)
        let probe = try health.permit(at: .seconds(5))
        _ = health.end(other, report: .noResponse, of: .path("/a"), at: .seconds(5))
        #expect(health.admission(at: .seconds(5)) == .rejected(.seconds(1)))
        _ = health.end(probe, report: .success, of: .path("/a"), at: .seconds(6))
        #expect(!health.isSuspended)
    }

    private func suspended(_ report: OriginReport, at now: Duration) throws -> OriginHealth {
        var health = health
        try health.fail(20, report, at: now)
        try #require(health.isSuspended)
        return health
    }
}

extension OriginHealth {
    /// The admission of a transfer, without starting it.
    func admission(at now: Duration) -> Admission {
        var copy = self
        return copy.admit(TransferProgress(), at: now)
    }

    /// Starts a transfer.
    mutating func permit(_ progress: TransferProgress = TransferProgress(), at now: Duration) throws -> Permit {
        guard case .granted(let permit) = admit(progress, at: now) else {
            throw DownloadError.originSuspended(seconds: 0)
        }
        return permit
    }

    /// Runs a transfer that ends at once.
    @discardableResult
    mutating func transfer(_ path: String, _ report: OriginReport, at now: Duration) throws -> Consequence {
        end(try permit(at: now), report: report, of: .path(path), at: now)
    }

    /// Runs failing transfers of this number of URLs, or until the origin is suspended.
    mutating func fail(_ count: Int, _ report: OriginReport, at now: Duration) throws {
        for number in 0..<count where !isSuspended { try transfer("/fail\(number)", report, at: now) }
    }
}
