package import Coordination
package import Downloading
package import HTTPTypes
package import Telemetry

/// Sends calls in the background, a few at a time, with up to three attempts each.
package final class OutgoingCaller: Sendable {
    package typealias Send = @Sendable (OutgoingCall) async -> CallReply
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

    /// - Parameter end: Called when the call was delivered or abandoned, possibly before this method returns.
    package func add(_ call: OutgoingCall, end: @escaping End = { _ in }) {
        let entry = Entry(call: call, end: end)
        let admission = state.withLock { state in
            let admission = state.queue.add(entry, bytes: call.byteCount)
            guard admission == .starts else { return admission }
            state.lastRunner += 1
            let runner = state.lastRunner
            // Safe under the lock: creating a task only enqueues it.
            state.runners[runner] = Task.detached { await self.run(runner) }
            return admission
        }
        if admission == .dropped { finish(entry, with: .dropped, detail: "too many calls wait") }
    }

    package func stop(timeLimit: Duration) async {
        if state.withLock({ $0.queue.stop() }) { idle.fulfill(true) }
        _ = await idle.value(within: timeLimit, by: timekeeper, or: false)
        let (rest, runners) = state.withLock { ($0.queue.takeRest(), Array($0.runners.values)) }
        for runner in runners { runner.cancel() }
        for entry in rest { finish(entry, with: .dropped, detail: "the service ends") }
    }

    private func run(_ runner: Int) async {
        while let entry = state.withLock({ $0.queue.next() }) {
            let (outcome, detail) = await outcome(of: entry.call)
            finish(entry, with: outcome, detail: detail)
        }
        let isLast = state.withLock { state in
            state.runners[runner] = nil
            return state.queue.isStopping && state.queue.active == 0
        }
        if isLast { idle.fulfill(true) }
    }

    private func outcome(of call: OutgoingCall) async -> (CallOutcome, detail: String) {
        var attempt = 1
        while true {
            let reply = await send(call)
            let step = state.withLock { $0.queue.step(after: reply, attempt: attempt) }
            // A shutdown is not the recipient's fault.
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
        entry.end(outcome)
    }

    /// Omits the path, because a hook's path may be a secret.
    private static func host(of url: String) -> String { String(SourceLabel.text(url).prefix { $0 != "/" }) }
}

package enum CallKind: String, Sendable, CaseIterable {
    case purgeHook = "purge_hook"
    case jobCallback = "job_callback"
}

package struct CallbackHosts: Sendable {
    private var names: [String] = []
    /// The suffixes of wildcard names, including the leading dot.
    private var endings: [String] = []

    package init() {}

    /// Parses names, `*.NAME` for all hosts below a name, and addresses; nil if one is invalid.
    package init?(_ texts: [String]) {
        for text in texts {
            let isEnding = text.hasPrefix("*.")
            let name = isEnding ? text.dropFirst(2) : text[...]
            // Parse it like a callback URL, so that both are spelled the same.
            guard !name.contains(where: { "/?#".contains($0) }), let url = try? SourceURL(parsing: "http://\(name)/"),
                url.port == 80, url.path == "/", !isEnding || url.address == nil
            else { return nil }
            if isEnding { endings.append("." + url.host) } else { names.append(url.host) }
        }
    }

    package func allow(_ url: SourceURL) -> Bool {
        names.contains(url.host) || endings.contains { url.host.hasSuffix($0) && url.host.utf8.count > $0.utf8.count }
    }
}

package struct OutgoingCall: Sendable, Equatable {
    package var url: String
    package var method = HTTPRequest.Method.post
    package var fields: HTTPFields = [:]
    package var body: [UInt8] = []

    package init(url: String, method: HTTPRequest.Method = .post, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
    }

    var byteCount: Int {
        256 + url.utf8.count + body.count
            + fields.reduce(0) { $0 + 64 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

package enum CallReply: Sendable, Equatable {
    case status(Int)
    case none(String)
    case rejected(String)
}

package enum CallOutcome: String, Sendable, CaseIterable {
    case sent
    case failed
    /// Dropped because too many calls waited, or because the service stopped.
    case dropped
}
