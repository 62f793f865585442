import Synchronization

struct ConnectionOccupancy: ~Copyable {
    /// The current request, its arriving body, or the watch thread while it closes the connection.
    enum Occupant: UInt8, AtomicRepresentable {
        case none, request, body, watch
    }

    private let occupant = Atomic<Occupant>(.none)
    private let idleBegan: Atomic<Moment>
    private let headerBegan = Atomic<Moment>(.never)
    private let bodyDeadline = Atomic<Moment>(.never)

    init(at now: Duration) { idleBegan = Atomic(Moment(now)) }

    /// False if the connection has an owner.
    func acquire(for owner: Occupant) -> Bool { pass(from: .none, to: owner) }

    func endRequest(at now: Duration) {
        idleBegan.store(Moment(now), ordering: .relaxed)
        if !pass(from: .request, to: .none) { _ = pass(from: .body, to: .none) }
    }

    func beginBody(until deadline: Duration) {
        bodyDeadline.store(Moment(deadline), ordering: .relaxed)
        _ = pass(from: .request, to: .body)
    }

    /// False if the watch thread already has.
    func endBody() -> Bool { pass(from: .body, to: .request) }

    var isInBody: Bool { occupant.load(ordering: .acquiring) == .body }

    func isBodyLate(at now: Duration) -> Bool {
        guard isInBody, let deadline = bodyDeadline.load(ordering: .relaxed).time else { return false }
        return now >= deadline
    }

    func acquireFromBody() -> Bool { pass(from: .body, to: .watch) }

    private func pass(from owner: Occupant, to next: Occupant) -> Bool {
        occupant.compareExchange(
            expected: owner, desired: next, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed
        ).exchanged
    }

    /// Nil for no header; watch thread only.
    func recordHeader(since began: Duration?) { headerBegan.store(Moment(began), ordering: .relaxed) }

    var isFree: Bool { occupant.load(ordering: .relaxed) == .none }

    var isInRequest: Bool { [.request, .body].contains(occupant.load(ordering: .relaxed)) }

    var idleSince: Duration? { idleBegan.load(ordering: .relaxed).time }

    func hasSlowHeader(at now: Duration) -> Bool {
        headerBegan.load(ordering: .relaxed).time.map { now - $0 >= .seconds(1) } ?? false
    }
}

/// One word.
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

    var time: Duration? { nanoseconds == .min ? nil : .nanoseconds(nanoseconds) }

    typealias AtomicRepresentation = Int64.AtomicRepresentation

    static func encodeAtomicRepresentation(_ value: consuming Moment) -> AtomicRepresentation {
        Int64.encodeAtomicRepresentation(value.nanoseconds)
    }

    static func decodeAtomicRepresentation(_ storage: consuming AtomicRepresentation) -> Moment {
        Moment(nanoseconds: Int64.decodeAtomicRepresentation(storage))
    }
}
