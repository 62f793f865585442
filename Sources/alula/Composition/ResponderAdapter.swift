import HTTPServing
import HTTPTypes
import ThumbnailAPI

/// A listener's routes as the HTTP server calls them.
struct ResponderAdapter: RequestResponder {
    let answer: @Sendable (HTTPRequest) -> APIAnswer
    let refuse: @Sendable (APIRefusal) -> HTTPResponse
    var maximumBodyLength: @Sendable (HTTPRequest) -> Int = { _ in 0 }

    func respond(to request: HTTPRequest) -> HTTPAnswer {
        switch answer(request) {
        case .now(let response): .now(response)
        case .again(let response): .again(response)
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
