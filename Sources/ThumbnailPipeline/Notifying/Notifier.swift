package import Coordination
package import Telemetry

/// Tells others what has happened: operators' hooks of purges, and those who began jobs of their ends.
package struct Notifier: Sendable {
    /// The calls of one kind since the start, and those that wait.
    package struct Figures: Sendable, Equatable {
        package let kind: CallKind
        package let waiting: Int
        package let counts: [CallOutcome: Int]
    }

    private let hooks: [(hook: PurgeHook, caller: OutgoingCaller)]
    private let callbacks: OutgoingCaller
    private let outcomes: CounterFamily

    /// A notifier without calls.
    ///
    /// Each hook has a queue of its own, so that one that is slow or gone keeps no other waiting.
    ///
    /// - Parameters:
    ///   - hooks: Those that are told of purges.
    ///   - registry: Gets the metrics.
    ///   - logger: Takes a line for each call that did not arrive.
    ///   - timekeeper: The clock of the pauses.
    ///   - toHooks: Sends a call to a host that the operator has named.
    ///   - toCallbacks: Sends a call to a host that a job has named, if it may be called.
    package init(
        hooks: [PurgeHook] = [], registry: MetricsRegistry, logger: Logger, timekeeper: any Timekeeper,
        toHooks: @escaping OutgoingCaller.Send, toCallbacks: @escaping OutgoingCaller.Send
    ) {
        let outcomes = registry.counters(
            "alula_outgoing_calls_total", help: "Calls of hooks and callbacks that have ended.",
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
            "alula_outgoing_calls_waiting", help: "Calls of hooks and callbacks that wait for their turn.",
            labels: "kind", counting: "call"
        ) { [self] in
            CallKind.allCases.map { ([$0.rawValue], Double(waitingCount(of: $0))) }
        }
    }

    /// Has the hooks told of a purge.
    package func tell(_ purge: PurgeNews) {
        for (hook, caller) in hooks {
            for report in hook.reports(of: purge) { for call in hook.calls(for: report) { caller.add(call) } }
        }
    }

    /// Has the host called that a job has named.
    package func callBack(_ call: OutgoingCall, end: @escaping OutgoingCaller.End) {
        callbacks.add(call, end: end)
    }

    /// The figures of each kind.
    package var figures: [Figures] {
        CallKind.allCases.map { kind in
            let counts = CallOutcome.allCases.map { ($0, outcomes.counter(kind.rawValue, $0.rawValue).value) }
            return Figures(
                kind: kind, waiting: waitingCount(of: kind), counts: Dictionary(uniqueKeysWithValues: counts))
        }
    }

    /// Sends what waits until the time is over; nothing is taken any more.
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
