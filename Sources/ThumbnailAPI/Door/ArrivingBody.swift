import Coordination
import Dialects
import HTTPTypes

/// Admitted while it arrives: its memory, its length limit, and the reply to the complete request.
struct ArrivingBody: Sendable {
    private let announced: Int?
    private let room: BodyMemory.Room
    private let check: @Sendable (_ length: Int) throws(APIError) -> Void
    private let reply: @Sendable (HTTPRequest, BodyMemory.Room) -> Reply

    /// - Parameters:
    ///   - announced: Nil for a chunked body.
    ///   - reply: Answers the complete request; releases the room when the body is no longer needed.
    /// - Throws: ``APIError`` for a body that is too long, or ``MemoryBudget/Full``.
    init(
        length announced: Int?, in room: BodyMemory.Room,
        check: @escaping @Sendable (_ length: Int) throws(APIError) -> Void,
        reply: @escaping @Sendable (HTTPRequest, BodyMemory.Room) -> Reply
    ) throws {
        (self.announced, self.room, self.check, self.reply) = (announced, room, check, reply)
        if let announced {
            try check(announced)
            try room.check(announced)
        }
    }

    func grow(to length: Int) throws {
        try check(length)
        try room.grow(to: length, of: announced)
    }

    func respond(to request: HTTPRequest) -> Reply {
        room.settle()
        return reply(request, room)
    }
}
