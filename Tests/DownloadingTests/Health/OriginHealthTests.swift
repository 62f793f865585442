import Testing

@testable import Downloading

/// When an origin is suspended, and how it comes back.
struct OriginHealthTests {
    private var health = OriginHealth()

    @Test func `nothing is known of an origin at first, and it is asked`() throws {
        var health = health
        #expect(health.isReachable == nil)
        #expect(!health.isSuspended)
        let pass = try health.pass(at: .zero)
        let suspends = health.end(pass, .nothing, at: .zero)
        #expect(!suspends)
        #expect(health.isReachable == nil)
    }

    @Test func `five failures in a row suspend it, four do not`() throws {
        var health = health
        for _ in 0..<3 {
            for _ in 0..<4 { try health.transfer(.failure, at: .seconds(1)) }
            #expect(health.isReachable == false)
            #expect(!health.isSuspended)
            try health.transfer(.success, at: .seconds(1))
            #expect(health.isReachable == true)
        }
        // Ends that say nothing neither add to the row nor break it.
        for _ in 0..<4 {
            try health.transfer(.failure, at: .seconds(20))
            try health.transfer(.nothing, at: .seconds(20))
        }
        #expect(!health.isSuspended)
        let pass = try health.pass(at: .seconds(20))
        let suspends = health.end(pass, .failure, at: .seconds(20))
        #expect(suspends)
        #expect(health.admission(at: .seconds(20)) == .refused(.seconds(5)))
        #expect(health.admission(at: .seconds(24)) == .refused(.seconds(1)))
    }

    @Test func `half of at least twenty within ten seconds suspend it`() throws {
        var health = health
        for round in 0..<9 {
            try health.transfer(.failure, at: .seconds(round))
            try health.transfer(.success, at: .seconds(round))
        }
        try health.transfer(.success, at: .seconds(9))
        #expect(!health.isSuspended)
        try health.transfer(.failure, at: .seconds(9))
        #expect(health.isSuspended)
    }

    @Test func `what is older than ten seconds does not count`() throws {
        var health = health
        for _ in 0..<9 {
            try health.transfer(.failure, at: .seconds(0))
            try health.transfer(.success, at: .seconds(0))
        }
        try health.transfer(.success, at: .seconds(10))
        for _ in 0..<4 { try health.transfer(.failure, at: .seconds(10)) }
        #expect(!health.isSuspended)
    }

    @Test func `fewer than half failing never suspend it`() throws {
        var health = health
        for _ in 0..<200 {
            try health.transfer(.success, at: .zero)
            try health.transfer(.failure, at: .zero)
            try health.transfer(.success, at: .zero)
        }
        #expect(!health.isSuspended)
    }

    @Test func `a suspended origin is probed by one transfer, and opens with its success`() throws {
        var health = try suspended(at: .zero)
        #expect(health.admission(at: .milliseconds(4_999)) == .refused(.milliseconds(1)))
        let probe = try health.pass(at: .seconds(5))
        #expect(health.admission(at: .seconds(5)) == .refused(.seconds(1)))
        #expect(health.isSuspended)
        _ = health.end(probe, .success, at: .seconds(6))
        #expect(!health.isSuspended)
        #expect(health.isReachable == true)
        // Its past is forgotten: it takes five failures again.
        for _ in 0..<4 { try health.transfer(.failure, at: .seconds(6)) }
        #expect(!health.isSuspended)
    }

    @Test func `each failed probe doubles the pause, up to a minute`() throws {
        var health = try suspended(at: .zero)
        var now = Duration.seconds(5)
        for pause in [10, 20, 40, 60, 60] {
            let probe = try health.pass(at: now)
            let suspends = health.end(probe, .failure, at: now)
            #expect(suspends)
            #expect(health.admission(at: now) == .refused(.seconds(pause)))
            now += .seconds(pause)
        }
        let probe = try health.pass(at: now)
        _ = health.end(probe, .success, at: now)
        for _ in 0..<5 { try health.transfer(.failure, at: now) }
        #expect(health.admission(at: now) == .refused(.seconds(5)))
    }

    @Test func `a probe that ends without saying anything makes room for the next`() throws {
        var health = try suspended(at: .zero)
        let probe = try health.pass(at: .seconds(5))
        _ = health.end(probe, .nothing, at: .seconds(6))
        let next = try health.pass(at: .seconds(6))
        _ = health.end(next, .success, at: .seconds(7))
        #expect(!health.isSuspended)
    }

    @Test func `transfers from before the suspension neither open it nor lengthen it`() throws {
        var health = health
        let early = try health.pass(at: .zero)
        let other = try health.pass(at: .zero)
        for _ in 0..<5 { try health.transfer(.failure, at: .zero) }
        _ = health.end(early, .success, at: .seconds(1))
        #expect(health.isSuspended)
        let probe = try health.pass(at: .seconds(5))
        _ = health.end(other, .failure, at: .seconds(5))
        #expect(health.admission(at: .seconds(5)) == .refused(.seconds(1)))
        _ = health.end(probe, .success, at: .seconds(6))
        #expect(!health.isSuspended)
    }

    private func suspended(at now: Duration) throws -> OriginHealth {
        var health = health
        for _ in 0..<5 { try health.transfer(.failure, at: now) }
        try #require(health.isSuspended)
        return health
    }
}

extension OriginHealth {
    /// What a transfer would be told, without letting it start.
    func admission(at now: Duration) -> Admission {
        var copy = self
        return copy.admit(at: now)
    }

    /// Lets a transfer start.
    mutating func pass(at now: Duration) throws -> Pass {
        guard case .granted(let pass) = admit(at: now) else { throw DownloadError.originSuspended(seconds: 0) }
        return pass
    }

    /// Runs a transfer that ends at once.
    mutating func transfer(_ report: Report, at now: Duration) throws {
        _ = end(try pass(at: now), report, at: now)
    }
}
