package import Coordination
package import Telemetry

package struct Notifier: Sendable {
    package struct Statistics: Sendable, Equatable {
        package let kind: CallKind
        package let waiting: Int
        package let counts: [CallOutcome: Int]
    }

    private let hooks: [(hook: PurgeHook, caller: OutgoingCaller)]
    private let callbacks: OutgoingCaller
    private let outcomes: CounterFamily

    /// Each hook has its own queue, so that a slow one does not delay the others.
    ///
    /// - Parameters:
    ///   - toHooks: Sends a call to a host named by the operator.
    ///   - toCallbacks: Sends a call to a host named by a job, if it is allowed.
    package init(
        hooks: [PurgeHook] = [], registry: MetricsRegistry, logger: Logger, timekeeper: any Timekeeper,
        toHooks: @escaping OutgoingCaller.Send, toCallbacks: @escaping OutgoingCaller.Send
    ) {
        let outcomes = registry.counters(
            "alula_outgoing_calls_total", help: "Finished calls of hooks and callbacks.",
            labels: "kind", "outcome", counting: "call")
        self.outcomes = outcomes
        func caller(_ kind: CallKind, _ send: @escaping OutgoingCaller.Send) -> OutgoingCaller {
            OutgoingCaller(kind, outcomes: outcomes, logger: logger, timekeeper: timekeeper, send: send)
        }
        for kind in CallKind.allCases {
            for outcome in CallOutcome.allCases { _ = outcomes.counter(kind.rawValue, outcome.rawValue) }
        }
        self.hooks = hooks.map { ($0, caller(.purgeHook, toHooks)) }
        callbacks = caller(.jobCallback, toCallbacks)
        registry.gauge(
            "alula_outgoing_calls_waiting", help: "Queued calls of hooks and callbacks.",
            labels: "kind", counting: "call"
        ) { [self] in
            CallKind.allCases.map { ([$0.rawValue], Double(waitingCount(of: $0))) }
        }
    }

    package func notify(_ purge: CompletedPurge) {
        for (hook, caller) in hooks {
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
            for caller in hooks.map(\.caller) + [callbacks] {
                group.addTask { await caller.stop(timeLimit: timeLimit) }
            }
        }
    }

    private func waitingCount(of kind: CallKind) -> Int {
        switch kind {
        case .purgeHook: hooks.reduce(0) { $0 + $1.caller.waitingCount }
        case .jobCallback: callbacks.waitingCount
        }
    }
}
