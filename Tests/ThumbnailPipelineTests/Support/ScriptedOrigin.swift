import Coordination
import HTTPTypes
import Memory
import TestSupport

@testable import Downloading

/// An origin that answers each path as the test says, and counts transfers.
final class ScriptedOrigin: DataLoading {
    /// The response to a path.
    struct Answer: Sendable {
        var bytes: SharedBytes
        var fields: HTTPFields = [:]
        var timings = TransferTimings()
    }

    private struct State {
        var answers: [String: Answer] = [:]
        var failure: DownloadError?
        var gate: Gate?
        var loads = 0
        var confirmations = 0
    }

    private let state = Locked(State())
    private let cancels = EventCounter()
    private let timekeeper: any Timekeeper

    init(timekeeper: any Timekeeper) { self.timekeeper = timekeeper }

    /// Transfers that have begun.
    var loads: Int { state.withLock { $0.loads } }
    /// How many of them were answered with 304.
    var confirmations: Int { state.withLock { $0.confirmations } }
    /// Transfers that were canceled.
    var cancellations: Int { cancels.count }
    /// Waits until this number of transfers has been canceled.
    func cancellations(_ count: Int) async { await cancels.reached(count) }

    /// Answers `path` with an image from now on; every other path is not found.
    func serve(_ bytes: SharedBytes, at path: String = "/a", cacheControl: String? = nil, eTag: String? = nil) {
        var answer = Answer(bytes: bytes)
        answer.fields[.cacheControl] = cacheControl
        answer.fields[.eTag] = eTag
        serve(answer, at: path)
    }

    /// Answers `path` in this way from now on.
    func serve(_ answer: Answer, at path: String) { state.withLock { $0.answers[path] = answer } }

    /// Fails from now on, or no more.
    func fail(with error: DownloadError?) { state.withLock { $0.failure = error } }

    /// Lets transfers to come wait at a gate.
    func hold() -> Gate {
        let gate = Gate()
        state.withLock { $0.gate = gate }
        return gate
    }

    func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferResult {
        let path = request.identity.url.path
        let (answer, failure, gate) = state.withLock { state in
            state.loads += 1
            return (state.answers[path], state.failure, state.gate)
        }
        await gate?.pass()
        if Task.isCancelled {
            cancels.increment()
            throw CancellationError()
        }
        if let failure { throw failure }
        guard let answer else { throw DownloadError.notFound(404) }
        let now = HTTPDate(secondsSince1970: timekeeper.secondsSince1970)
        let eTag = answer.fields[.eTag]
        if let eTag, request.condition?.eTag == eTag {
            state.withLock { $0.confirmations += 1 }
            return .notModified(
                SourceConfirmation(
                    headerFields: answer.fields, requestedAt: now, receivedAt: now, timings: answer.timings))
        }
        let head = SourceHead(
            identity: request.identity,
            validator: eTag.map { SourceValidator.entityTag($0) } ?? .digest("\(answer.bytes.array.hashValue)"),
            headerFields: answer.fields, requestedAt: now, receivedAt: now)
        return .source(Source(head: head, bytes: answer.bytes, timings: answer.timings))
    }
}
