import Coordination
import HTTPTypes
import Memory
import TestSupport

@testable import Downloading

/// An origin with a scripted response to each path; counts transfers.
final class ScriptedOrigin: DataLoading {
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

    /// Number of transfers that have started.
    var loads: Int { state.withLock { $0.loads } }
    /// Number of 304 responses.
    var confirmations: Int { state.withLock { $0.confirmations } }
    /// Number of canceled transfers.
    var cancellations: Int { cancels.count }
    /// Waits until this number of transfers has been canceled.
    func cancellations(_ count: Int) async { await cancels.reached(count) }

    /// Serves an image at `path`; other paths are not found.
    func serve(_ bytes: SharedBytes, at path: String = "/a", cacheControl: String? = nil, eTag: String? = nil) {
        var answer = Answer(bytes: bytes)
        answer.fields[.cacheControl] = cacheControl
        answer.fields[.eTag] = eTag
        serve(answer, at: path)
    }

    /// Sets the response to `path`.
    func serve(_ answer: Answer, at path: String) { state.withLock { $0.answers[path] = answer } }

    /// Makes all transfers fail; nil makes them succeed again.
    func fail(with error: DownloadError?) { state.withLock { $0.failure = error } }

    /// Makes later transfers wait at a gate.
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
        return .source(ReceivedSource(head: head, bytes: answer.bytes, timings: answer.timings))
    }
}
