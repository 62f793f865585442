import HTTPServing
import HTTPTypes
import ThumbnailAPI

/// A listener's routes as the HTTP server calls them; an object, because it is fetched for every request.
final class ResponderAdapter: RequestResponder {
    private let answer: @Sendable (HTTPRequest) -> APIAnswer
    private let refuse: @Sendable (APIRefusal) -> HTTPResponse
    private let maximumBodyLength: @Sendable (HTTPRequest) -> Int

    init(
        answer: @escaping @Sendable (HTTPRequest) -> APIAnswer,
        refuse: @escaping @Sendable (APIRefusal) -> HTTPResponse,
        maximumBodyLength: @escaping @Sendable (HTTPRequest) -> Int = { _ in 0 }
    ) {
        self.answer = answer
        self.refuse = refuse
        self.maximumBodyLength = maximumBodyLength
    }

    func respond(to request: HTTPRequest) -> HTTPAnswer {
        switch answer(request) {
        case .now(let response): .now(response)
        case .again(let response, let answer): .again(response, by: answer)
        case .later(let work): .later(work)
        }
    }

    func maximumBodyLength(of request: HTTPRequest) -> Int { maximumBodyLength(request) }

    func refusal(_ refusal: HTTPRefusal) -> HTTPResponse {
        switch refusal {
        case .badRequest: refuse(.badRequest)
        case .headTimeout: refuse(.headTimeout)
        case .targetTooLong: refuse(.targetTooLong)
        case .fieldsTooLarge: refuse(.fieldsTooLarge)
        case .lengthRequired: refuse(.lengthRequired)
        case .bodyTooLarge: refuse(.bodyTooLarge)
        }
    }
}
