/// A queue for work that may run only a few pieces at a time: it runs a piece, lets it wait or refuses it.
///
/// A plain value. Each piece of work has a price: the time that it should take. The times that pieces really took scale
/// the prices, and so the estimated waits, to this machine.
struct TurnQueue<Answer> {
    typealias ID = UInt64

    /// The result of entering the queue.
    enum Entrance: Equatable {
        /// The entrant has a turn until it gives it back.
        case turn
        /// The entrant waits; its answer is kept until its turn.
        case waits
        /// It would have waited this long; its answer is not kept.
        case refused(Duration)
    }

    private struct Waiter {
        let id: ID
        let price: Duration
        let since: Duration
        let answer: Answer
    }

    private struct Turn {
        let price: Duration
        let start: Duration
    }

    /// The last piece of work counts for one eighth of the pace.
    private static var weight: Double { 8 }
    /// A ratio of time to price outside this range is cut to it.
    private static var credibleRatios: ClosedRange<Double> { 0.125...8 }

    /// The largest number of turns at a time.
    let places: Int
    private let maximumWaiting: Int
    private var waiting = Deque<Waiter>()
    /// Total price of all waiters.
    private var waitingPrice = Duration.zero
    private var turns: [ID: Turn] = [:]
    /// Since when there has been a waiter; nil if there is none.
    private var waitingSince: Duration?
    private var lastID: ID = 0
    /// Time that work takes for each unit of its price.
    private(set) var pace = 1.0

    init(places: Int, maximumWaiting: Int) {
        precondition(places > 0 && maximumWaiting >= 0, "at least one place, and a bound on the line")
        self.places = places
        self.maximumWaiting = maximumWaiting
    }

    /// How many have a turn.
    var turnCount: Int { turns.count }
    /// How many wait for one.
    var waitingCount: Int { waiting.count }

    /// An identifier for a new entrant.
    mutating func newID() -> ID {
        lastID += 1
        return lastID
    }

    /// Takes a turn, or a place in the line.
    ///
    /// Whatever the patience, as many may wait as there are places: a wrong price must not leave a place empty.
    ///
    /// - Parameter patience: Bound on the wait, judged now; nil for none.
    mutating func enter(_ id: ID, price: Duration, patience: Duration?, at now: Duration, answer: Answer) -> Entrance {
        if turns.count < places {
            turns[id] = Turn(price: price, start: now)
            return .turn
        }
        let delay = delay(at: now)
        if waiting.count >= maximumWaiting { return .refused(delay) }
        if let patience, delay > patience, waiting.count >= places { return .refused(delay) }
        if waiting.isEmpty { waitingSince = now }
        waiting.append(Waiter(id: id, price: price, since: now, answer: answer))
        waitingPrice += price
        return .waits
    }

    /// Leaves the line; nil if the waiter is no longer in it.
    mutating func leave(_ id: ID) -> Answer? {
        guard let left = waiting.removeFirst(where: { $0.id == id }) else { return nil }
        noteDeparture(of: left)
        return left.answer
    }

    /// Gives a turn back; returns the answer of the waiter that gets it.
    mutating func finish(_ id: ID, at now: Duration) -> Answer? {
        guard let turn = turns.removeValue(forKey: id) else { return nil }
        if turn.price > .zero {
            let bounds = Self.credibleRatios
            let pace = min(max((now - turn.start) / turn.price, bounds.lowerBound), bounds.upperBound)
            self.pace += (pace - self.pace) / Self.weight
        }
        guard let next = waiting.popFirst() else { return nil }
        noteDeparture(of: next)
        turns[next.id] = Turn(price: next.price, start: now)
        return next.answer
    }

    /// The backlog before a new entrant.
    func backlog(at now: Duration) -> Backlog {
        Backlog(count: waiting.count, delay: delay(at: now), age: waitingSince.map { now - $0 } ?? .zero)
    }

    /// How long a new entrant would wait: the remaining time of running and waiting work, divided by the places, and
    /// never less than the first waiter has waited already.
    private func delay(at now: Duration) -> Duration {
        guard turns.count >= places else { return .zero }
        let left = turns.values.reduce(Duration.zero) { $0 + max(.zero, $1.price * pace - (now - $1.start)) }
        return max(waiting.first.map { now - $0.since } ?? .zero, (left + waitingPrice * pace) / places)
    }

    private mutating func noteDeparture(of waiter: Waiter) {
        waitingPrice -= waiter.price
        if waiting.isEmpty { waitingSince = nil }
    }
}
