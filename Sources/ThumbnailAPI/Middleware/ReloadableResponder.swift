import Coordination
package import HTTPTypes
import Synchronization

/// Passes each request to the responder of the current settings; requests in progress keep their responder.
package final class ReloadableResponder: RequestResponder {
    private let current: Locked<ListenerResponder>

    package init(_ responder: ListenerResponder) { current = Locked(responder) }

    package func use(_ responder: ListenerResponder) { current.exchange(responder).retire() }

    private var responder: ListenerResponder { current.withLock { $0 } }

    package func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse> { responder.respond(to: request) }

    package func bodyPolicy(for request: HTTPRequest) -> BodyPolicy? { responder.bodyPolicy(for: request) }

    package func response(to rejection: HTTPRejection) -> HTTPResponse { responder.response(to: rejection) }
}

/// Whether a reload has replaced the responder that built the responses.
final class Retirement: Sendable {
    private let flag = Atomic(false)

    var hasHappened: Bool { flag.load(ordering: .relaxed) }

    func record() { flag.store(true, ordering: .relaxed) }
}
