/// An entrant runs, waits or is rejected.
///
/// A plain value. Each piece of work has an estimated cost in time. Measured times scale the costs, and thus the
/// estimated waits, to this machine.
struct TurnQueue<Answer> {
    typealias ID = UInt64

    enum Admission: Equatable {
        /// The turn lasts until the entrant calls `finish`.
        case turn
        /// The answer is stored until the entrant's turn.
        case waits
        /// The wait would have been this long.
        case rejected(Duration)
    }

    private struct Waiter {
        let id: ID
        let cost: Duration
        let since: Duration
        let answer: Answer
    }

    private struct Turn {
        let cost: Duration
        let start: Duration
    }

    /// The latest work counts for one eighth of the pace.
    private static var weight: Double { 8 }
    /// The credible ratios of time to cost.
    private static var credibleRatios: ClosedRange<Double> { 0.125...8 }

    let maximumTurns: Int
    private let maximumWaiting: Int
    private var waiting = Deque<Waiter>()
    private var waitingCost = Duration.zero
    private var turns: [ID: Turn] = [:]
    private var waitingSince: Duration?
    private var lastID: ID = 0
    private(set) var pace = 1.0

    init(maximumTurns: Int, maximumWaiting: Int) {
        precondition(maximumTurns > 0 && maximumWaiting >= 0, "at least one place, and a bound on the line")
        self.maximumTurns = maximumTurns
        self.maximumWaiting = maximumWaiting
    }

    var turnCount: Int { turns.count }
    var waitingCount: Int { waiting.count }

    mutating func newID() -> ID {
        lastID += 1
        return lastID
    }

    mutating func enter(
        _ id: ID, cost: Duration, queueTimeout: Duration?, at now: Duration, answer: Answer
    ) -> Admission {
        if turns.count < maximumTurns {
            turns[id] = Turn(cost: cost, start: now)
            return .turn
        }
        let delay = delay(at: now)
        if waiting.count >= maximumWaiting { return .rejected(delay) }
        if let queueTimeout, delay > queueTimeout, waiting.count >= maximumTurns { return .rejected(delay) }
        if waiting.isEmpty { waitingSince = now }
        waiting.append(Waiter(id: id, cost: cost, since: now, answer: answer))
        waitingCost += cost
        return .waits
    }

    mutating func leave(_ id: ID) -> Answer? {
        guard let left = waiting.removeFirst(where: { $0.id == id }) else { return nil }
        recordDeparture(of: left)
        return left.answer
    }

    mutating func finish(_ id: ID, at now: Duration) -> Answer? {
        guard let turn = turns.removeValue(forKey: id) else { return nil }
        if turn.cost > .zero {
            let bounds = Self.credibleRatios
            let pace = min(max((now - turn.start) / turn.cost, bounds.lowerBound), bounds.upperBound)
            self.pace += (pace - self.pace) / Self.weight
        }
        guard let next = waiting.popFirst() else { return nil }
        recordDeparture(of: next)
        turns[next.id] = Turn(cost: next.cost, start: now)
        return next.answer
    }

    func backlog(at now: Duration) -> Backlog {
        Backlog(count: waiting.count, delay: delay(at: now), age: waitingSince.map { now - $0 } ?? .zero)
    }

    /// The remaining time of running and waiting work divided by the number of turns, but at least the time that the
    /// first waiter has waited already.
    private func delay(at now: Duration) -> Duration {
        guard turns.count >= maximumTurns else { return .zero }
        let left = turns.values.reduce(Duration.zero) { $0 + max(.zero, $1.cost * pace - (now - $1.start)) }
        return max(waiting.first.map { now - $0.since } ?? .zero, (left + waitingCost * pace) / maximumTurns)
    }

    private mutating func recordDeparture(of waiter: Waiter) {
        waitingCost -= waiter.cost
        if waiting.isEmpty { waitingSince = nil }
    }
}
