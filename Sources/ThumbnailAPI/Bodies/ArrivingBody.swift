import Coordination
import Dialects
import HTTPTypes

/// A request whose header was accepted, while its body arrives: its memory, length limit and response.
final class ArrivingBody: BodyReservation {
    private let announced: Int?
    private let room: BodyMemory.Room
    private let check: @Sendable (_ length: Int) throws(APIError) -> Void
    private let failure: @Sendable (any Error) -> HTTPResponse
    private let answer: @Sendable (HTTPRequest, BodyMemory.Room) -> HTTPReply

    /// Admits a body.
    ///
    /// - Parameters:
    ///   - announced: The body's length; nil for a chunked body.
    ///   - room: The body's memory.
    ///   - check: Checks a length.
    ///   - failure: Responds to a body that is rejected while it arrives.
    ///   - answer: Responds to the complete request; releases the room when the body is no longer needed.
    /// - Throws: ``APIError`` for a body that is too long, or ``MemoryBudget/Full``.
    init(
        length announced: Int?, in room: BodyMemory.Room,
        check: @escaping @Sendable (_ length: Int) throws(APIError) -> Void,
        failure: @escaping @Sendable (any Error) -> HTTPResponse,
        answer: @escaping @Sendable (HTTPRequest, BodyMemory.Room) -> HTTPReply
    ) throws {
        (self.announced, self.room, self.check) = (announced, room, check)
        (self.failure, self.answer) = (failure, answer)
        if let announced {
            try check(announced)
            try room.check(announced)
        }
    }

    func refusal(ofLength length: Int) -> HTTPResponse? {
        do {
            try check(length)
            try room.grow(to: length, of: announced)
            return nil
        } catch {
            return failure(error)
        }
    }

    func respond(to request: HTTPRequest) -> HTTPReply {
        room.settle()
        return answer(request, room)
    }
}
