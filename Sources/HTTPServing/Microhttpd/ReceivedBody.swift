import Coordination
import HTTPTypes
import Memory

/// The body of a request while it arrives; event thread only.
final class ReceivedBody {
    private let bodilessRequest: HTTPRequest
    /// Nil for a body in chunks.
    private let length: Int?
    private let maximumLength: Int
    private let hold: (any BodyHold)?
    /// When all of it must have arrived.
    let deadline: Duration
    private let timekeeper: any Timekeeper
    private var bytes: ByteAccumulator

    /// Why no more of a body is read.
    enum Failure: Error {
        /// It takes too long.
        case late
        /// It is longer than its route allows, or than was announced.
        case tooLong
        /// There is no room for it.
        case refused(HTTPResponse)
    }

    /// After so many bytes all memory of an announced length is asked for; the system gives it when it is written.
    private static let trialLength = 64 << 10

    /// The body of `request`, which must arrive within `limit`.
    ///
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - length: The announced length; nil for a body in chunks.
    ///   - maximumLength: Most bytes that the route allows.
    ///   - hold: The reservation that is held until the whole body has arrived.
    init(
        of request: HTTPRequest, length: Int?, maximumLength: Int, hold: (any BodyHold)?, within limit: Duration,
        by timekeeper: any Timekeeper
    ) {
        bodilessRequest = request
        (self.length, self.maximumLength, self.hold) = (length, maximumLength, hold)
        self.timekeeper = timekeeper
        deadline = timekeeper.now + limit
        bytes = ByteAccumulator(reservingCapacity: min(length ?? 0, Self.trialLength))
    }

    @unsafe
    func append(_ part: UnsafeRawBufferPointer) throws(Failure) {
        guard timekeeper.now < deadline else { throw .late }
        let count = bytes.count + part.count
        guard count <= length ?? maximumLength else { throw .tooLong }
        if let response = hold?.refusal(ofLength: count) {
            // Other bodies need the memory, and the client may read its refusal for a while.
            bytes = ByteAccumulator()
            throw .refused(response)
        }
        if let length, bytes.count <= Self.trialLength, count > Self.trialLength { bytes.reserve(length) }
        unsafe bytes.append(part)
    }

    /// The request with its body, and what answers it unless it is the server's responder; nil if the body ended before
    /// its announced length.
    ///
    /// Called once, at the end.
    func finish() -> (request: HTTPRequest, hold: (any BodyHold)?)? {
        guard length == nil || bytes.count == length else { return nil }
        var request = bodilessRequest
        var whole = ByteAccumulator()
        swap(&whole, &bytes)
        if whole.count > 0 { request.body = whole.finish() }
        return (request, hold)
    }
}
