import Coordination
import HTTPTypes
import Memory

final class ReceivedBody {
    private let bodilessRequest: HTTPRequest
    /// The announced length; nil for a chunked body.
    private let length: Int?
    private let maximumLength: Int
    private let reservation: (any BodyReservation)?
    let deadline: Duration
    private let timekeeper: any Timekeeper
    private var bytes: ByteAccumulator

    enum Failure: Error {
        case late
        case tooLong
        case rejected(HTTPResponse)
    }

    /// After this many bytes, address space for the whole announced length is reserved; the system commits pages when
    /// they are written.
    private static let reservationThreshold = 64 << 10

    /// - Parameters:
    ///   - length: The announced length; nil for a chunked body.
    ///   - reservation: The memory to keep until the whole body has arrived.
    init(
        of request: HTTPRequest, length: Int?, maximumLength: Int, reservation: (any BodyReservation)?,
        within limit: Duration, by timekeeper: any Timekeeper
    ) {
        bodilessRequest = request
        self.length = length
        self.maximumLength = maximumLength
        self.reservation = reservation
        self.timekeeper = timekeeper
        deadline = timekeeper.now + limit
        bytes = ByteAccumulator(reservingCapacity: min(length ?? 0, Self.reservationThreshold))
    }

    @unsafe
    func append(_ part: UnsafeRawBufferPointer) throws(Failure) {
        guard timekeeper.now < deadline else { throw .late }
        let count = bytes.count + part.count
        guard count <= length ?? maximumLength else { throw .tooLong }
        if let response = reservation?.rejection(ofLength: count) {
            // Free the bytes, because the client may take a while to read the response.
            bytes = ByteAccumulator()
            throw .rejected(response)
        }
        if let length, bytes.count <= Self.reservationThreshold, count > Self.reservationThreshold {
            bytes.reserve(length)
        }
        unsafe bytes.append(part)
    }

    func interrupt(by rejection: HTTPRejection) { reservation?.interrupt(by: rejection) }

    /// Returns the request and its reservation; nil if the body ended before its announced length.
    ///
    /// Called once, at the end.
    func finish() -> (request: HTTPRequest, reservation: (any BodyReservation)?)? {
        guard length == nil || bytes.count == length else { return nil }
        var request = bodilessRequest
        var whole = ByteAccumulator()
        swap(&whole, &bytes)
        if whole.count > 0 { request.body = whole.finish() }
        return (request, reservation)
    }
}
