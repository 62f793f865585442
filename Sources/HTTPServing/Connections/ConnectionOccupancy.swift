import Synchronization

struct ConnectionOccupancy: ~Copyable {
    /// The user of a connection: the current request, its arriving body, or the watch thread while closing it.
    enum Owner: UInt8, AtomicRepresentable {
        case none, request, body, watch
    }

    private let owner = Atomic<Owner>(.none)
    private let idleBegan: Atomic<Moment>
    private let headerBegan = Atomic<Moment>(.never)
    private let bodyDeadline = Atomic<Moment>(.never)

    init(at now: Duration) { idleBegan = Atomic(Moment(now)) }

    /// Returns false if the connection already has an owner.
    func acquire(for owner: Owner) -> Bool { transfer(from: .none, to: owner) }

    func endRequest(at now: Duration) {
        idleBegan.store(Moment(now), ordering: .relaxed)
        if !transfer(from: .request, to: .none) { _ = transfer(from: .body, to: .none) }
    }

    func beginBody(until deadline: Duration) {
        bodyDeadline.store(Moment(deadline), ordering: .relaxed)
        _ = transfer(from: .request, to: .body)
    }

    /// Returns false if the watch thread has already ended it.
    func endBody() -> Bool { transfer(from: .body, to: .request) }

    var isInBody: Bool { owner.load(ordering: .acquiring) == .body }

    func isBodyLate(at now: Duration) -> Bool {
        guard isInBody, let deadline = bodyDeadline.load(ordering: .relaxed).time else { return false }
        return now >= deadline
    }

    func acquireFromBody() -> Bool { transfer(from: .body, to: .watch) }

    var isClosing: Bool { owner.load(ordering: .acquiring) == .watch }

    private func transfer(from current: Owner, to next: Owner) -> Bool {
        owner.compareExchange(
            expected: current, desired: next, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed
        ).exchanged
    }

    /// Records when an incomplete header began, or nil if there is none; watch thread only.
    func recordHeader(since began: Duration?) { headerBegan.store(Moment(began), ordering: .relaxed) }

    var isFree: Bool { owner.load(ordering: .relaxed) == .none }

    var isInRequest: Bool { [.request, .body].contains(owner.load(ordering: .relaxed)) }

    var idleSince: Duration? { idleBegan.load(ordering: .relaxed).time }

    func hasSlowHeader(at now: Duration) -> Bool {
        headerBegan.load(ordering: .relaxed).time.map { now - $0 >= .seconds(1) } ?? false
    }
}

/// A time in one word, so that it can be atomic.
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
