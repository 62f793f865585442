import Coordination
import HTTPTypes
import Memory
import TestSupport

@testable import ThumbnailAPI

/// Requests with images or lists of renditions.
enum SubmissionFixture {
    static let image = ImageFixture.jpeg.array
    static let json: HTTPFields = [.contentType: "application/json"]
    static let jpeg: HTTPFields = [.contentType: "image/jpeg"]

    /// A request whose body has not arrived yet.
    static func request(
        _ target: String, _ fields: HTTPFields = jpeg, from peer: PeerAddress? = nil
    ) -> HTTPRequest {
        var request = HTTPRequest(method: .post, target: target, headerFields: fields)
        request.peer = peer
        return request
    }
}

extension PublicListenerFixture {
    /// A responder that accepts uploads.
    static func takingUploads(
        _ thumbnails: StubThumbnails = StubThumbnails(), budget: MemoryBudget = MemoryBudget(),
        _ configure: (inout APIConfiguration) -> Void = { _ in }
    ) -> PublicListenerFixture {
        PublicListenerFixture(thumbnails, budget: budget) {
            $0.takesUploads = true
            configure(&$0)
        }
    }

    /// The decision about a request whose header has arrived.
    func admission(of request: HTTPRequest, length: Int?) -> (hold: (any BodyReservation)?, rejection: HTTPResponse?) {
        switch responder.bodyPolicy(for: request)?.admission(request, length) {
        case .accepted(let hold): (hold, nil)
        case .rejected(let response): (nil, response)
        case nil: (nil, nil)
        }
    }

    /// The response to a request whose body arrives after its header was admitted.
    func submit(_ request: HTTPRequest, _ body: [UInt8]) async -> HTTPResponse {
        let (hold, rejection) = admission(of: request, length: body.count)
        guard let hold else { return rejection ?? HTTPResponse(status: .ok) }
        if let rejection = hold.rejection(ofLength: body.count) { return rejection }
        var request = request
        request.body = SharedBytes(body)
        return await Self.response(of: hold.respond(to: request))
    }
}

extension HTTPResponse {
    /// The complete content of a streamed body.
    func received() async -> String {
        guard case .streamed(let body) = body else { return text }
        var bytes: [UInt8] = []
        while true {
            switch body.take() {
            case .bytes(let piece): bytes += piece.array
            case .end: return String(decoding: bytes, as: UTF8.self)
            case .broken: return "broken"
            case .pending: await withCheckedContinuation { next in body.whenReady { next.resume() } }
            }
        }
    }
}
