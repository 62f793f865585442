import Coordination
import TestSupport
import Testing

@testable import Commands

@Suite(.timeLimit(.minutes(1)))
struct SourceQueueTests {
    private static func outcome(_ index: Int, _ failure: CommandFailure? = nil) -> RenditionOutcome {
        RenditionOutcome(
            source: index, rendition: 0, sourceText: "\(index)",
            kind: failure.map { .failed($0) } ?? .skipped(path: "x", isFinished: false),
            duration: .zero)
    }

    @Test func `sources in progress never exceed the limit`() async {
        let counts = Locked((now: 0, most: 0))
        let gate = Gate()
        var reported = 0
        let opener = Task {
            await gate.arrivals(3)
            gate.open()
        }
        let isComplete = await SourceQueue.run(
            10, atOnce: 3,
            { index, _ in
                counts.withLock { counts in
                    counts.now += 1
                    counts.most = max(counts.most, counts.now)
                }
                await gate.pass()
                counts.withLock { $0.now -= 1 }
                return [Self.outcome(index)]
            }, report: { _ in reported += 1 })
        await opener.value
        #expect(isComplete && reported == 10 && counts.withLock { $0.most } == 3)
    }

    @Test func `an overloaded source is retried alone`() async {
        let tries = Locked<[Int]>([])
        var room = CommandFailure(code: "overloaded", reason: "no room")
        room.isWorthRetrying = true
        var reported: [Int: Bool] = [:]
        let isComplete = await SourceQueue.run(
            6, atOnce: 2,
            { [room] index, _ in
                let isFirst = tries.withLock { tries in
                    tries.append(index)
                    return tries.count { $0 == index } == 1
                }
                return [Self.outcome(index, index == 5 || (index == 2 && isFirst) ? room : nil)]
            }, report: { reported[$0.source] = $0.failure == nil })
        #expect(isComplete)
        #expect(reported == [0: true, 1: true, 2: true, 3: true, 4: true, 5: false])
        #expect(tries.withLock { Array($0.suffix(2)) } == [2, 5])
    }

    @Test func `only the overloaded renditions of a source are retried`() async {
        let tries = Locked<[[Int]?]>([])
        var room = CommandFailure(code: "overloaded", reason: "no room")
        room.isWorthRetrying = true
        var reported: [Int] = []
        let isComplete = await SourceQueue.run(
            1, atOnce: 1,
            { [room] source, renditions in
                tries.withLock { $0.append(renditions) }
                return (renditions ?? [0, 1, 2]).map { rendition in
                    RenditionOutcome(
                        source: source, rendition: rendition, sourceText: "a",
                        kind: renditions == nil && rendition > 0
                            ? .failed(room) : .skipped(path: "x", isFinished: false), duration: .zero)
                }
            }, report: { reported.append($0.rendition) })
        #expect(isComplete && reported == [0, 1, 2] && tries.withLock { $0 } == [nil, [1, 2]])
    }

    @Test func `a full disk ends all work`() async {
        var reported: [Int] = []
        let isComplete = await SourceQueue.run(
            100, atOnce: 1,
            { index, _ in [Self.outcome(index, index == 3 ? CommandFailure(system: 28) : nil)] },
            report: { reported.append($0.source) })
        #expect(!isComplete && reported == [0, 1, 2, 3])
    }

    @Test func `a canceled task begins no more work`() async {
        let task = Task {
            var count = 0
            let isComplete = await SourceQueue.run(
                100, atOnce: 1,
                { index, _ in
                    [Self.outcome(index)]
                },
                report: { outcome in
                    count += 1
                    if outcome.source == 4 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                })
            return (isComplete, count)
        }
        let (isComplete, count) = await task.value
        #expect(!isComplete && count == 5)
    }

    @Test func `lines are printed in order`() {
        var lines = OrderedLines()
        func texts(_ ready: [(index: Int, line: Result<String, CommandFailure>)]) -> [String] {
            ready.compactMap { try? $0.line.get() }
        }
        let told = [(2, "c"), (0, "a"), (1, "b")].map { index, text in texts(lines.add(.success(text), at: index)) }
        #expect(told == [[], ["a"], ["b", "c"]])
    }
}
