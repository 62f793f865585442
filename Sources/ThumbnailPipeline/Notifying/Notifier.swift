package import Coordination
package import Telemetry

package struct Notifier: Sendable {
    package struct Statistics: Sendable, Equatable {
        package let kind: CallKind
        package let waiting: Int
        package let counts: [CallOutcome: Int]
    }

    private struct Hooks {
        var current: [(hook: PurgeHook, caller: OutgoingCaller)] = []
        /// Callers of replaced hooks that still have calls to send.
        var ending: [OutgoingCaller] = []

        var callers: [OutgoingCaller] { current.map(\.caller) + ending }
    }

    private let hooks = Locked(Hooks())
    private let makeCaller: @Sendable (CallKind, @escaping OutgoingCaller.Send) -> OutgoingCaller
    private let toHooks: OutgoingCaller.Send
    private let callbacks: OutgoingCaller
    private let outcomes: CounterFamily

    /// Each hook has its own queue, so that a slow one does not delay the others.
    ///
    /// - Parameters:
    ///   - toHooks: Sends a call to a host from the settings.
    ///   - toCallbacks: Sends a call to a job's callback host, if it is allowed.
    package init(
        hooks: [PurgeHook] = [], registry: MetricsRegistry, logger: Logger, timekeeper: any Timekeeper,
        toHooks: @escaping OutgoingCaller.Send, toCallbacks: @escaping OutgoingCaller.Send
    ) {
        let outcomes = registry.counters(
            "alula_outgoing_calls_total", help: "Finished calls of hooks and callbacks.",
            labels: "kind", "outcome", counting: "call")
        self.outcomes = outcomes
        makeCaller = { kind, send in
            OutgoingCaller(kind, outcomes: outcomes, logger: logger, timekeeper: timekeeper, send: send)
        }
        self.toHooks = toHooks
        for kind in CallKind.allCases {
            for outcome in CallOutcome.allCases { _ = outcomes.counter(kind.rawValue, outcome.rawValue) }
        }
        callbacks = makeCaller(.jobCallback, toCallbacks)
        use(hooks)
        registry.gauge(
            "alula_outgoing_calls_waiting", help: "Queued calls of hooks and callbacks.",
            labels: "kind", counting: "call"
        ) { [self] in
            CallKind.allCases.map { ([$0.rawValue], Double(waitingCount(of: $0))) }
        }
    }

    /// Replaces the hooks; queued calls of the earlier ones are still sent.
    package func use(_ new: [PurgeHook]) {
        let current = new.map { ($0, makeCaller(.purgeHook, toHooks)) }
        let ending = hooks.withLock { hooks in
            defer { hooks = Hooks(current: current, ending: hooks.callers) }
            return hooks.callers
        }
        let busy = ending.filter(\.isBusy)
        hooks.withLock { $0.ending = busy }
    }

    package func notify(_ purge: CompletedPurge) {
        for (hook, caller) in hooks.withLock(\.current) {
            for report in hook.reports(of: purge) { for call in hook.calls(for: report) { caller.add(call) } }
        }
    }

    package func callBack(_ call: OutgoingCall, end: @escaping OutgoingCaller.End) { callbacks.add(call, end: end) }

    package var statistics: [Statistics] {
        CallKind.allCases.map { kind in
            let counts = CallOutcome.allCases.map { ($0, outcomes.counter(kind.rawValue, $0.rawValue).value) }
            return Statistics(
                kind: kind, waiting: waitingCount(of: kind), counts: Dictionary(uniqueKeysWithValues: counts))
        }
    }

    package func stop(timeLimit: Duration) async {
        await withTaskGroup { group in
            for caller in hooks.withLock(\.callers) + [callbacks] {
                group.addTask { await caller.stop(timeLimit: timeLimit) }
            }
        }
    }

    private func waitingCount(of kind: CallKind) -> Int {
        switch kind {
        case .purgeHook: hooks.withLock(\.callers).reduce(0) { $0 + $1.waitingCount }
        case .jobCallback: callbacks.waitingCount
        }
    }
}
