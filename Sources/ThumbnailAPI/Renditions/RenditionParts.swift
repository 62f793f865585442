import Coordination
import Dialects
import Downloading
import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Renders several renditions at a time, and passes each one on when it is ready.
struct RenditionParts: Sendable {
    let list: RenditionList
    let source: OpenedSource
    let context: RequestContext
    let bill: RequestBill?
    /// The client's fields for private sources; empty for an uploaded file.
    let fields: HTTPFields
    let responder: SubmissionResponder

    /// The limit leaves threads to other requests.
    private static let maximumAtOnce = 4

    func make(_ take: (_ index: Int, _ part: RenditionArchive.Part) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: (Int, RenditionArchive.Part).self) { group in
            var waiting = list.renditions.indices.makeIterator()
            func startNext() {
                guard let index = waiting.next() else { return }
                group.addTask { (index, await part(list.renditions[index])) }
            }
            for _ in 0..<Self.maximumAtOnce { startNext() }
            while let (index, part) = try await group.next() {
                startNext()
                try await take(index, part)
            }
        }
    }

    private func part(_ rendition: RenditionList.Rendition) async -> RenditionArchive.Part {
        do {
            let renditionRequest = try rendition.request.get()
            let deadline = responder.deadline(of: context)
            return try await withDeadline(deadline, by: responder.timekeeper) {
                () async throws -> RenditionArchive.Part in
                switch renditionRequest {
                case .image(let request, let destination):
                    let made = try await responder.thumbnails.thumbnail(for: try job(request))
                    guard let destination else { return .image(made) }
                    return .stored(try await responder.resultWriter.put(made, at: destination, of: source))
                case .facts(let factsRequest):
                    let facts = try await responder.thumbnails.facts(factsRequest, for: try job(factsSource))
                    return .facts(FactsText.text(facts, of: list.source, requested: factsRequest))
                }
            }
        } catch {
            return .problem(
                Problem(responder.failures.lifecycle.failure(behind: error), requestID: context.id, common: [:]))
        }
    }

    private func job(_ request: Request) throws -> Job {
        let client = ClientNetwork(of: context.client)
        return Job(
            try responder.thumbnails.resolved(request, of: source).forwarding(fields), of: client,
            tagClient: responder.configuration.keys.isEmpty ? client : nil, receipt: context.receipt, bill: bill)
    }

    private var factsSource: Request {
        var request = Request(source: "")
        request.limits = responder.configuration.requestLimits
        return request
    }
}

/// The status of the response, determined when the first image is ready or all have failed.
struct SubmissionOutcome: Sendable {
    private(set) var problems: [Problem] = []
    private(set) var hasResult = false

    mutating func record(_ part: RenditionArchive.Part) {
        if case .problem(let problem) = part { problems.append(problem) } else { hasResult = true }
    }

    /// The failure if no result was produced.
    ///
    /// The first failure if all have the same status, otherwise an error that stands for different ones.
    var failure: (any ServiceError)? {
        guard !hasResult, let first = problems.first?.error else { return nil }
        return problems.allSatisfy { $0.error.status == first.status } ? first : APIError.nothingMade
    }
}
