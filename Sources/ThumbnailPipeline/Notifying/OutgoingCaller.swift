package import Coordination
package import Telemetry

/// Sends calls in the background, a few at a time and each up to three times, so that nobody waits for those who are
/// told.
package final class OutgoingCaller: Sendable {
    /// Sends a call once, within a bounded time.
    package typealias Send = @Sendable (OutgoingCall) async -> CallReply
    /// Told how a call has ended.
    package typealias End = @Sendable (CallOutcome) -> Void

    private struct Entry {
        let call: OutgoingCall
        let end: End
    }

    private struct State {
        var queue = CallQueue<Entry>()
        var runners: [Int: Task<Void, Never>] = [:]
        var lastRunner = 0
    }

    private let kind: CallKind
    private let send: Send
    private let outcomes: CounterFamily
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let state = Locked(State())
    private let idle = FirstAnswer<Bool>()

    /// A caller without calls.
    ///
    /// - Parameters:
    ///   - kind: The purpose of its calls.
    ///   - outcomes: Counts the ends of calls by kind and outcome.
    ///   - logger: Takes a line for each call that did not arrive: with the host, never with the path or fields.
    ///   - timekeeper: The clock of the pauses.
    ///   - send: Sends a call once.
    package init(
        _ kind: CallKind, outcomes: CounterFamily, logger: Logger, timekeeper: any Timekeeper, send: @escaping Send
    ) {
        self.kind = kind
        self.outcomes = outcomes
        self.logger = logger
        self.timekeeper = timekeeper
        self.send = send
    }

    /// Calls that wait for their turn.
    var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// Takes a call, and returns at once.
    ///
    /// - Parameters:
    ///   - call: The call to send.
    ///   - end: Called when it has arrived or was given up, perhaps before this returns.
    package func add(_ call: OutgoingCall, end: @escaping End = { _ in }) {
        let entry = Entry(call: call, end: end)
        let admission = state.withLock { state in
            let admission = state.queue.add(entry, bytes: call.byteCount)
            guard admission == .starts else { return admission }
            state.lastRunner += 1
            let runner = state.lastRunner
            // Sound under the lock: creating a task only enqueues it.
            state.runners[runner] = Task.detached { await self.run(runner) }
            return admission
        }
        if admission == .dropped { finish(entry, .dropped, "too many calls wait") }
    }

    /// Sends what waits until the time is over, and gives up the rest; nothing is taken any more.
    package func stop(timeLimit: Duration) async {
        if state.withLock({ $0.queue.stop() }) { idle.give(true) }
        _ = await idle.value(within: timeLimit, by: timekeeper, or: false)
        let (rest, runners) = state.withLock { ($0.queue.takeRest(), Array($0.runners.values)) }
        for runner in runners { runner.cancel() }
        for entry in rest { finish(entry, .dropped, "the service ends") }
    }

    private func run(_ runner: Int) async {
        while let entry = state.withLock({ $0.queue.next() }) {
            let (outcome, detail) = await outcome(of: entry.call)
            finish(entry, outcome, detail)
        }
        let isLast = state.withLock { state in
            state.runners[runner] = nil
            return state.queue.isStopping && state.queue.active == 0
        }
        if isLast { idle.give(true) }
    }

    private func outcome(of call: OutgoingCall) async -> (CallOutcome, detail: String) {
        var attempt = 1
        while true {
            let reply = await send(call)
            let step = state.withLock { $0.queue.step(after: reply, attempt: attempt) }
            // The end of the service is no fault of those who are called.
            if Task.isCancelled, step != .end(.sent) { return (.dropped, "the service ends") }
            switch step {
            case .end(let outcome): return (outcome, "\(reply)")
            case .again(let pause):
                guard (try? await timekeeper.sleep(until: timekeeper.now + pause)) != nil else {
                    return (.dropped, "the service ends")
                }
                attempt += 1
            }
        }
    }

    private func finish(_ entry: Entry, _ outcome: CallOutcome, _ detail: String) {
        outcomes.counter(kind.rawValue, outcome.rawValue).increment()
        if outcome != .sent {
            logger.warning(
                "call did not arrive",
                [
                    "kind": .string(kind.rawValue), "outcome": .string(outcome.rawValue),
                    "host": .string(Self.host(of: entry.call.url)), "detail": .string(detail),
                ])
        }
        entry.end(outcome)
    }

    /// Host and port of a URL; paths of hooks may be secrets.
    private static func host(of url: String) -> String {
        String(SourceLabel.text(url).prefix { $0 != "/" })
    }
}

/// The purpose of a call, by its name in metrics.
package enum CallKind: String, Sendable, CaseIterable {
    /// An operator's hook is told of a purge.
    case purgeHook = "purge_hook"
    /// The report of a job is sent to those who began it.
    case jobCallback = "job_callback"
}
