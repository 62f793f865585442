import Coordination
import Memory

/// The result of a shared fetch.
enum FetchOutcome: Sendable {
    case fetched(FetchedSource)
    /// The ranges, with this number of bytes, did not suffice: callers need the whole source.
    case insufficient(Int)

    func shared(as participation: Participation) -> FetchOutcome {
        switch self {
        case .fetched(.whole(var copy)):
            copy.participation = participation
            if participation != .started { copy.rangeBytes = 0 }
            return .fetched(.whole(copy))
        case .fetched(.partial(var copy)):
            copy.participation = participation
            return .fetched(.partial(copy))
        case .insufficient: return participation == .started ? self : .insufficient(0)
        }
    }

    /// The same outcome with a body that is counted for the reservation's tenant while in use.
    func holding(_ reservation: MemoryReservation?) -> FetchOutcome {
        guard let reservation, case .fetched(.whole(let copy)) = self, let bytes = copy.bytes, !isConfirmation
        else { return self }
        reservation.convertToBody(byteCount: bytes.footprint)
        return .fetched(.whole(copy.holding(reservation)))
    }

    var isConfirmation: Bool {
        if case .fetched(.whole(let copy)) = self { copy.exchange?.status == 304 } else { false }
    }
}
