import Coordination
import Downloading
import Memory
import Recipes
import Telemetry
import ThumbnailTypes

/// Measures queue wait, work and encoding of one piece of work on a worker thread.
final class WorkClock: Sendable {
    /// The current request's trace; nil if it is not sampled.
    private let trace: RequestTrace?
    private let start: Duration
    private let began = Locked<Begin?>(nil)
    private let processor = Locked(ProcessorTime())

    /// The durations of the queue wait, the work, and the encoding at its end.
    struct Steps {
        var queue: Duration
        var work = Duration.zero
        var encoding = Duration.zero
    }

    /// CPU time of the work, and of the encoding at its end; zero if it never started.
    struct ProcessorTime {
        var work = Duration.zero
        var encoding = Duration.zero

        var whole: Duration { work + encoding }
    }

    private struct Begin {
        let time: Duration
        let token: WorkToken
    }

    /// - Parameter start: The beginning of the wait for a thread.
    init(at start: Duration) {
        trace = RequestTrace.current.flatMap { $0.context.isSampled ? $0 : nil }
        self.start = start
    }

    /// Performs the work on the calling thread, and measures its CPU time including its worker processes.
    func perform<Value>(_ token: WorkToken, at time: Duration, _ work: () throws -> Value) rethrows -> Value {
        began.withLock { $0 = Begin(time: time, token: token) }
        let start = SystemTimekeeper.threadProcessorTime
        defer {
            let end = SystemTimekeeper.threadProcessorTime
            let others = token.processorTimeOfProcesses
            let writing = token.processorTimeAtWriting.map { min(max($0, start), end) }
            processor.withLock {
                $0 =
                    writing.map { ProcessorTime(work: $0 - start, encoding: end - $0 + others) }
                    ?? ProcessorTime(work: end - start + others)
            }
        }
        return try work()
    }

    var processorTime: ProcessorTime { processor.withLock { $0 } }

    func steps(until end: Duration) -> Steps {
        guard let began = began.withLock({ $0 }) else { return Steps(queue: end - start) }
        let writing = Self.writing(began, until: end) ?? end
        return Steps(queue: began.time - start, work: writing - began.time, encoding: end - writing)
    }

    /// The token always uses the system's clock, even in tests with another clock.
    private static func writing(_ began: Begin, until end: Duration) -> Duration? {
        began.token.writingBegan.map { min(max($0, began.time), max(began.time, end)) }
    }

    /// Records the spans; only the wait if the work never started.
    ///
    /// - Parameter name: `decode` or `render`.
    func record(_ name: String, format: ImageFormat, until end: Duration) {
        guard let trace else { return }
        let began = began.withLock { $0 }
        trace.record("queue", time: start..<(began?.time ?? end), attributes: [("alula.step", .string(name))])
        guard let began else { return }
        let context = trace.newContext()
        trace.record(
            name, as: context, time: began.time..<max(began.time, end),
            attributes: [("alula.format", .string(format.rawValue))])
        guard let encoding = Self.writing(began, until: end) else { return }
        trace.record("encode", within: context, time: encoding..<max(encoding, end))
    }
}
