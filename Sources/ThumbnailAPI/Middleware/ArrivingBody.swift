import Coordination
import Dialects
import HTTPTypes
import Memory

/// A body that has been admitted: its memory, its length limit, and the response to the complete request.
struct ArrivingBody: Sendable {
    private let announced: Int?
    private let report: BodyReport?
    private let lease: BodyMemory.Lease
    private let check: @Sendable (_ length: Int) throws(APIError) -> Void
    private let responder: @Sendable (HTTPRequest, BodyMemory.Lease) -> PendingResponse<Outcome>

    /// - Parameters:
    ///   - announced: The value of `Content-Length`; nil for a chunked body.
    ///   - report: Publishes the progress of an image as events.
    ///   - respond: Responds to the complete request, and releases the lease when the body is no longer needed.
    init(
        length announced: Int?, in lease: BodyMemory.Lease, report: BodyReport? = nil,
        check: @escaping @Sendable (_ length: Int) throws(APIError) -> Void,
        respond: @escaping @Sendable (HTTPRequest, BodyMemory.Lease) -> PendingResponse<Outcome>
    ) throws {
        self.announced = announced
        self.report = report
        self.lease = lease
        self.check = check
        responder = respond
        if let announced {
            try check(announced)
            try lease.check(announced)
        }
        report?.start()
    }

    func grow(to length: Int) throws {
        do {
            try check(length)
            try lease.grow(to: length, of: announced)
        } catch {
            report?.fail(error, at: length)
            throw error
        }
        report?.progress(to: length)
    }

    func interrupt(by error: APIError) { report?.fail(error) }

    func respond(to request: HTTPRequest) -> PendingResponse<Outcome> {
        lease.settle()
        report?.finish(at: request.body?.count ?? 0)
        return responder(request, lease)
    }
}
