import Synchronization

/// Who has a connection, and since when nobody has; any thread.
struct ConnectionOccupancy: ~Copyable {
    /// The owner of a connection: the current request, the body that it waits for, or the watch thread while it closes
    /// the connection.
    enum Occupant: UInt8, AtomicRepresentable {
        case none, request, body, watch
    }

    private let occupant = Atomic<Occupant>(.none)
    private let idleBegan: Atomic<Moment>
    private let headerBegan = Atomic<Moment>(.never)
    private let bodyDeadline = Atomic<Moment>(.never)

    /// A connection that begins now.
    init(at now: Duration) {
        idleBegan = Atomic(Moment(now))
    }

    /// Takes the connection if it has no owner; false if it has one.
    func take(for owner: Occupant) -> Bool { pass(from: .none, to: owner) }

    /// The request that has the connection is over.
    func endRequest(at now: Duration) {
        idleBegan.store(Moment(now), ordering: .relaxed)
        if !pass(from: .request, to: .none) { _ = pass(from: .body, to: .none) }
    }

    /// The request that has the connection waits for its body until `deadline`.
    func beginBody(until deadline: Duration) {
        bodyDeadline.store(Moment(deadline), ordering: .relaxed)
        _ = pass(from: .request, to: .body)
    }

    /// The wait for the body is over; false if the watch thread has ended it.
    func endBody() -> Bool { pass(from: .body, to: .request) }

    /// Whether a body is arriving.
    var isInBody: Bool { occupant.load(ordering: .acquiring) == .body }

    /// Whether the body that is arriving should have arrived by now.
    func isBodyLate(at now: Duration) -> Bool {
        guard isInBody, let deadline = bodyDeadline.load(ordering: .relaxed).time else { return false }
        return now >= deadline
    }

    /// Takes the connection from the body that is arriving; false if there is none.
    func takeFromBody() -> Bool { pass(from: .body, to: .watch) }

    private func pass(from owner: Occupant, to next: Occupant) -> Bool {
        occupant.compareExchange(
            expected: owner, desired: next, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed
        ).exchanged
    }

    /// Notes when the header that is being received began, nil for none; watch thread.
    func noteHeader(since began: Duration?) { headerBegan.store(Moment(began), ordering: .relaxed) }

    /// Whether the connection has no owner.
    var isFree: Bool { occupant.load(ordering: .relaxed) == .none }

    /// Whether a request is under way.
    var isInRequest: Bool { [.request, .body].contains(occupant.load(ordering: .relaxed)) }

    /// When the last request ended, or the connection began.
    var idleSince: Duration? { idleBegan.load(ordering: .relaxed).time }

    /// Whether a header has been unfinished for a second.
    func hasSlowHeader(at now: Duration) -> Bool {
        headerBegan.load(ordering: .relaxed).time.map { now - $0 >= .seconds(1) } ?? false
    }
}

/// A time or none, in one word.
private struct Moment: AtomicRepresentable {
    static let never = Moment(nanoseconds: .min)

    private let nanoseconds: Int64

    init(_ time: Duration?) {
        guard let (seconds, attoseconds) = time?.components else {
            self = .never
            return
        }
        nanoseconds = seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
    }

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The time to the nanosecond; nil for never.
    var time: Duration? { nanoseconds == .min ? nil : .nanoseconds(nanoseconds) }

    typealias AtomicRepresentation = Int64.AtomicRepresentation

    static func encodeAtomicRepresentation(_ value: consuming Moment) -> AtomicRepresentation {
        Int64.encodeAtomicRepresentation(value.nanoseconds)
    }

    static func decodeAtomicRepresentation(_ storage: consuming AtomicRepresentation) -> Moment {
        Moment(nanoseconds: Int64.decodeAtomicRepresentation(storage))
    }
}
