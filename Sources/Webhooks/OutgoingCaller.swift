package import Coordination
package import Telemetry

/// Sends calls in the background, a few at a time, with up to three attempts each.
package final class OutgoingCaller: Sendable {
    package typealias Send = @Sendable (OutgoingCall) async -> CallReply
    package typealias Completion = @Sendable (CallOutcome) -> Void

    private struct Entry {
        let call: OutgoingCall
        let completion: Completion
    }

    private struct State {
        var queue = CallQueue<Entry>()
        var runners: [Int: Task<Void, Never>] = [:]
        var lastRunner = 0
    }

    private static let shutdownDetail = "the service is shutting down"

    private let kind: CallKind
    private let send: Send
    private let outcomes: CounterFamily
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let state = Locked(State())
    private let idle = Promise<Bool>()

    /// - Parameters:
    ///   - outcomes: Counts calls by kind and outcome.
    ///   - logger: Logs failed calls with their host, never with path or fields.
    package init(
        _ kind: CallKind, outcomes: CounterFamily, logger: Logger, timekeeper: any Timekeeper, send: @escaping Send
    ) {
        self.kind = kind
        self.outcomes = outcomes
        self.logger = logger
        self.timekeeper = timekeeper
        self.send = send
    }

    var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    var isBusy: Bool { state.withLock { !$0.runners.isEmpty } }

    /// - Parameter completion: Called when the call was delivered or abandoned, possibly before this method returns.
    package func add(_ call: OutgoingCall, completion: @escaping Completion = { _ in }) {
        let entry = Entry(call: call, completion: completion)
        let admission = state.withLock { state in
            let admission = state.queue.add(entry, bytes: call.byteCount)
            guard admission == .started else { return admission }
            state.lastRunner += 1
            let runner = state.lastRunner
            // Safe under the lock: creating a task only enqueues it.
            state.runners[runner] = Task.detached { await self.run(runner) }
            return admission
        }
        if admission == .dropped { finish(entry, with: .dropped, detail: "too many calls are queued") }
    }

    package func shutDown(timeLimit: Duration) async {
        if state.withLock({ $0.queue.shutDown() }) { idle.fulfill(true) }
        _ = await idle.value(within: timeLimit, by: timekeeper, or: false)
        let (dropped, runners) = state.withLock { ($0.queue.takeWaiting(), Array($0.runners.values)) }
        for runner in runners { runner.cancel() }
        for entry in dropped { finish(entry, with: .dropped, detail: Self.shutdownDetail) }
    }

    private func run(_ runner: Int) async {
        while let entry = state.withLock({ $0.queue.next() }) {
            let (outcome, detail) = await outcome(of: entry.call)
            finish(entry, with: outcome, detail: detail)
        }
        let isLast = state.withLock { state in
            state.runners[runner] = nil
            return state.queue.isShutDown && state.queue.activeCount == 0
        }
        if isLast { idle.fulfill(true) }
    }

    private func outcome(of call: OutgoingCall) async -> (CallOutcome, detail: String) {
        var attempt = 1
        while true {
            let reply = await send(call)
            let step = state.withLock { $0.queue.nextStep(after: reply, attempt: attempt) }
            // A shutdown is not the recipient's fault.
            if Task.isCancelled, step != .finish(.sent) { return (.dropped, Self.shutdownDetail) }
            switch step {
            case .finish(let outcome): return (outcome, "\(reply)")
            case .retry(let pause):
                guard (try? await timekeeper.sleep(until: timekeeper.now + pause)) != nil else {
                    return (.dropped, Self.shutdownDetail)
                }
                attempt += 1
            }
        }
    }

    private func finish(_ entry: Entry, with outcome: CallOutcome, detail: String) {
        outcomes.counter(kind.rawValue, outcome.rawValue).increment()
        if outcome != .sent {
            logger.warning(
                "webhook failed",
                [
                    "kind": .string(kind.rawValue), "outcome": .string(outcome.rawValue),
                    "host": .string(Self.host(of: entry.call.url)), "detail": .string(detail),
                ])
        }
        entry.completion(outcome)
    }

    /// Omits the path, because a hook's path may be a secret.
    private static func host(of url: String) -> String { String(SourceLabel.text(url).prefix { $0 != "/" }) }
}
