import Coordination
import JSON
import TestSupport
import Testing

@testable import ThumbnailAPI

/// The figures of the last ten minutes, with a manual clock.
@Suite(.timeLimit(.minutes(1)))
struct StatsHistoryTests {
    private let time = ManualTimekeeper()
    private let history: StatsHistory

    init() {
        // All figures of a sample depend on the number of earlier readings.
        let count = Locked(0)
        history = StatsHistory(timekeeper: time) { [time] in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return StatsSample(
                time: time.now, requests: number * 100, clientErrors: number * 10, errors: number, hits: number * 60,
                misses: number * 30, decodes: number * 5, renders: number * 6, activeDownloads: number + 1,
                queuedDownloads: number + 2, heldMemory: number * 1_000, reservedMemory: number * 2_000,
                smallDelay: .milliseconds(number * 4), expensiveDelay: .milliseconds(number * 500))
        }
    }

    /// Runs the history while `body` advances its clock.
    private func whileRunning(_ body: () async throws -> Void) async rethrows {
        let task = Task { await history.run() }
        await time.sleepers(1)
        try await body()
        task.cancel()
        await task.value
    }

    private func pass(seconds: Int) async {
        for _ in 0..<seconds {
            time.advance(by: .seconds(1))
            await time.sleepers(1)
        }
    }

    /// The values of a series.
    private func numbers(_ name: String) -> [Double] {
        guard case .object(let members) = history.json,
            case .array(let values) = members.first(where: { $0.0 == name })?.1
        else { return [] }
        return values.compactMap { value in
            switch value {
            case .int(let number): Double(number)
            case .double(let number): number
            default: nil
            }
        }
    }

    @Test func `without samples all lists are empty`() {
        #expect(history.json.text.hasPrefix(#"{"ageSeconds":[],"requests":[],"#))
    }

    @Test func `a sample is taken at once, and every second after it`() async {
        await whileRunning {
            #expect(numbers("requests") == [100])
            time.advance(by: .milliseconds(999))
            #expect(numbers("requests") == [100] && numbers("ageSeconds") == [0.999])
            time.advance(by: .milliseconds(1))
            await time.nextWaking(at: .seconds(2))
            time.advance(by: .milliseconds(250))
            #expect(
                history.json.text
                    == #"{"ageSeconds":[1.25,0.25],"requests":[100,200],"clientErrors":[10,20],"errors":[1,2],"#
                    + #""hits":[60,120],"misses":[30,60],"decodes":[5,10],"renders":[6,12],"#
                    + #""downloads":{"active":[2,3],"queued":[3,4]},"#
                    + #""workers":{"small":{"delaySeconds":[0.004,0.008]},"expensive":{"delaySeconds":[0.5,1.0]}},"#
                    + #""memory":{"held":[1000,2000],"reserved":[2000,4000]}}"#)
        }
    }

    @Test func `ten minutes are stored, and the oldest samples are dropped`() async {
        await whileRunning {
            await pass(seconds: 1_000)
            #expect(numbers("errors") == (402...1_001).map { Double($0) })
            #expect(numbers("ageSeconds") == (0..<600).reversed().map { Double($0) })
        }
    }

    @Test func `a suspended process has a gap, and no burst of samples`() async {
        await whileRunning {
            await pass(seconds: 2)
            time.advance(by: .milliseconds(300_500))
            await time.nextWaking(at: .milliseconds(303_500))
            #expect(numbers("ageSeconds") == [302.5, 301.5, 300.5, 0])
            time.advance(by: .seconds(1))
            await time.nextWaking(at: .milliseconds(304_500))
            #expect(numbers("ageSeconds") == [303.5, 302.5, 301.5, 1, 0])
            // Samples older than ten minutes are omitted, even if there is space for them.
            time.advance(by: .seconds(298))
            await time.nextWaking(at: .milliseconds(602_500))
            #expect(numbers("ageSeconds") == [599.5, 299, 298, 0])
        }
    }

    @Test func `a canceled task takes no further sample`() async {
        await whileRunning {}
        #expect(time.sleeperCount == 0)
        time.advance(by: .seconds(5))
        #expect(numbers("requests") == [100])
    }

    @Test func `the samples use less than 100 KiB`() {
        #expect(MemoryLayout<StatsSample>.stride * 600 < 100 << 10)
    }
}
