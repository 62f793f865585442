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
    let thumbnails: any ThumbnailServing
    let resultWriter: ResultWriter
    let lifecycle: ServiceLifecycle
    let context: RequestContext
    let client: ClientNetwork
    let bill: RequestBill?
    let limits: RequestLimits
    /// The client's fields for private sources; empty for an uploaded file.
    let fields: HTTPFields
    let tagsAreSigned: Bool
    let deadline: Duration
    let timekeeper: any Timekeeper

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
            return try await withDeadline(deadline, by: timekeeper) { () async throws -> RenditionArchive.Part in
                switch renditionRequest {
                case .image(let request, let destination):
                    let made = try await thumbnails.thumbnail(for: try call(request))
                    guard let destination else { return .image(made) }
                    return .stored(try await resultWriter.put(made, at: destination, of: source))
                case .facts(let factsRequest):
                    let facts = try await thumbnails.facts(factsRequest, for: try call(factsSource))
                    return .facts(FactsText.text(facts, of: list.source, requested: factsRequest))
                }
            }
        } catch {
            return .problem(Problem(lifecycle.failure(behind: error), requestID: context.id, common: [:]))
        }
    }

    private func call(_ request: Request) throws -> Job {
        Job(
            try thumbnails.resolved(request, of: source).forwarding(fields), of: client,
            tagger: tagsAreSigned ? nil : client, receipt: context.receipt, bill: bill)
    }

    /// A request for facts about the opened source.
    private var factsSource: Request {
        var request = Request(source: "")
        request.limits = limits
        return request
    }
}

/// The status of the response, determined when the first image is ready or all have failed.
struct RenditionOutcome: Sendable {
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
