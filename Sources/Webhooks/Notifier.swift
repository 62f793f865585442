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
        var retired: [OutgoingCaller] = []

        var callers: [OutgoingCaller] { current.map(\.caller) + retired }
    }

    private let hooks = Locked(Hooks())
    private let makeCaller: @Sendable (CallKind, @escaping OutgoingCaller.Send) -> OutgoingCaller
    private let sendToHook: OutgoingCaller.Send
    private let callbacks: OutgoingCaller
    private let outcomes: CounterFamily

    /// Each hook has its own queue, so that a slow one does not delay the others.
    ///
    /// - Parameters:
    ///   - sendToHook: Sends a call to a host from the settings.
    ///   - sendToCallback: Sends a call to a job's callback host, if it is allowed.
    package init(
        hooks: [PurgeHook] = [], registry: MetricsRegistry, logger: Logger, timekeeper: any Timekeeper,
        sendToHook: @escaping OutgoingCaller.Send, sendToCallback: @escaping OutgoingCaller.Send
    ) {
        let outcomes = registry.counters(
            "alula_outgoing_calls_total", help: "Finished calls of hooks and callbacks.",
            labels: "kind", "outcome", counting: "call")
        self.outcomes = outcomes
        makeCaller = { kind, send in
            OutgoingCaller(kind, outcomes: outcomes, logger: logger, timekeeper: timekeeper, send: send)
        }
        self.sendToHook = sendToHook
        for kind in CallKind.allCases {
            for outcome in CallOutcome.allCases { _ = outcomes.counter(kind.rawValue, outcome.rawValue) }
        }
        callbacks = makeCaller(.jobCallback, sendToCallback)
        setHooks(hooks)
        registry.gauge(
            "alula_outgoing_calls_waiting", help: "Queued calls of hooks and callbacks.",
            labels: "kind", counting: "call"
        ) { [self] in
            CallKind.allCases.map { ([$0.rawValue], Double(waitingCount(of: $0))) }
        }
    }

    /// Replaces the hooks; queued calls of the earlier ones are still sent.
    package func setHooks(_ new: [PurgeHook]) {
        let current = new.map { ($0, makeCaller(.purgeHook, sendToHook)) }
        let retired = hooks.withLock { hooks in
            defer { hooks = Hooks(current: current, retired: hooks.callers) }
            return hooks.callers
        }
        let busy = retired.filter(\.isBusy)
        hooks.withLock { $0.retired = busy }
    }

    package func notify(_ purge: CompletedPurge) {
        for (hook, caller) in hooks.withLock(\.current) {
            for report in hook.reports(of: purge) { for call in hook.calls(for: report) { caller.add(call) } }
        }
    }

    package func callBack(_ call: OutgoingCall, completion: @escaping OutgoingCaller.Completion) {
        callbacks.add(call, completion: completion)
    }

    package var statistics: [Statistics] {
        CallKind.allCases.map { kind in
            let counts = CallOutcome.allCases.map { ($0, outcomes.counter(kind.rawValue, $0.rawValue).value) }
            return Statistics(
                kind: kind, waiting: waitingCount(of: kind), counts: Dictionary(uniqueKeysWithValues: counts))
        }
    }

    package func shutDown(timeLimit: Duration) async {
        await withTaskGroup { group in
            for caller in hooks.withLock(\.callers) + [callbacks] {
                group.addTask { await caller.shutDown(timeLimit: timeLimit) }
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
