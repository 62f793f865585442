import Coordination
import HTTPTypes
import Memory
import TestSupport

@testable import Downloading

/// A loader whose transfers end when the test releases them.
final class StubLoader: DataLoading {
    private struct Transfer {
        let id: Int
        let url: String
        let progress: TransferProgress
        let continuation: CheckedContinuation<TransferResult, any Error>
    }

    private struct State {
        var lastID = 0
        var started: [String] = []
        var running: [Transfer] = []
        var cancelledEarly: Set<Int> = []
        var highestParallelism = 0
        var isHolding: Bool
        var keepsCancelled: Bool
        var failure: DownloadError?
        var failures: [String: DownloadError] = [:]
        var failsAfterHead = false
        var signsOfLife: [String] = []
        var gateOfLife: Gate?
    }

    private let state: Locked<State>
    private let starts = EventCounter()
    private let cancels = EventCounter()

    /// A loader whose transfers wait for `release`, or end at once.
    ///
    /// With `keepsCancelled`, canceled transfers also run until they are released.
    init(isHolding: Bool = true, keepsCancelled: Bool = false) {
        state = Locked(State(isHolding: isHolding, keepsCancelled: keepsCancelled))
    }

    /// Paths of all transfers, in starting order.
    var started: [String] { state.withLock { $0.started } }
    /// Paths of running transfers.
    var running: [String] { state.withLock { $0.running.map(\.url) } }
    var highestParallelism: Int { state.withLock { $0.highestParallelism } }
    var cancellations: Int { cancels.count }

    /// Waits until this number of transfers has started.
    func starts(_ count: Int) async { await starts.reached(count) }

    /// Waits until this number of transfers has been canceled.
    func cancellations(_ count: Int) async { await cancels.reached(count) }

    /// Ends the oldest running transfer of this path.
    func release(_ path: String, _ error: DownloadError? = nil) {
        let transfer = state.withLock { state in
            state.running.firstIndex { $0.url == path }.map { state.running.remove(at: $0) }
        }
        if let transfer { Self.end(transfer, error) }
    }

    /// Ends running transfers, and makes later ones end at once.
    func releaseAll() {
        let transfers = state.withLock { state in
            state.isHolding = false
            defer { state.running = [] }
            return state.running
        }
        for transfer in transfers { Self.end(transfer, nil) }
    }

    /// Paths of transfers without a body, in starting order.
    var signsOfLife: [String] { state.withLock { $0.signsOfLife } }

    /// Makes later transfers without a body wait at a gate.
    func holdSignsOfLife() -> Gate {
        let gate = Gate()
        state.withLock { $0.gateOfLife = gate }
        return gate
    }

    /// Makes later transfers fail at once, before or after the start of a response; nil makes them succeed.
    func fail(with error: DownloadError?, afterHead: Bool = false) {
        state.withLock { state in
            state.failure = error
            state.failsAfterHead = afterHead
        }
    }

    /// Makes transfers of one path fail at once; nil restores the rule for all paths.
    func fail(_ path: String, with error: DownloadError?) { state.withLock { $0.failures[path] = error } }

    /// Reports progress of the running transfer of this path.
    func report(_ path: String, received: Int, expected: Int?) {
        let progress = state.withLock { $0.running.first { $0.url == path }?.progress }
        progress?.beginResponse()
        progress?.expect(expected)
        try? progress?.receive(received)
    }

    func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferResult {
        let url = request.identity.url.path
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        if !request.needsBody { await state.withLock { $0.gateOfLife }?.pass() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let transfer = Transfer(id: id, url: url, progress: progress, continuation: continuation)
                let result = state.withLock { state -> Result<TransferResult, any Error>? in
                    state.started.append(url)
                    if !request.needsBody { state.signsOfLife.append(url) }
                    if state.cancelledEarly.remove(id) != nil { return .failure(CancellationError()) }
                    if let failure = state.failures[url] { return .failure(failure) }
                    if let failure = state.failure {
                        if state.failsAfterHead { progress.beginResponse() }
                        return .failure(failure)
                    }
                    state.highestParallelism = max(state.highestParallelism, state.running.count + 1)
                    guard request.needsBody else { return .success(.head) }
                    guard state.isHolding else { return .success(.source(.stub(request.identity))) }
                    state.running.append(transfer)
                    return nil
                }
                if let result { continuation.resume(with: result) }
                starts.increment()
            }
        } onCancel: {
            let transfer = state.withLock { state -> Transfer? in
                if state.keepsCancelled { return nil }
                guard let index = state.running.firstIndex(where: { $0.id == id }) else {
                    state.cancelledEarly.insert(id)
                    return nil
                }
                return state.running.remove(at: index)
            }
            transfer?.continuation.resume(throwing: CancellationError())
            cancels.increment()
        }
    }

    private static func end(_ transfer: Transfer, _ error: DownloadError?) {
        if let error {
            transfer.continuation.resume(throwing: error)
        } else {
            transfer.continuation.resume(returning: .source(.stub(.path(transfer.url))))
        }
    }
}

/// Counts stores, and keeps sources only if `keeps` is true.
final class StubCache: SourceCaching {
    private let keeps: Bool
    private let sources = Locked<[SourceIdentity: ReceivedSource]>([:])
    private let stores = Locked(0)

    init(keeps: Bool = false) { self.keeps = keeps }

    var storeCount: Int { stores.withLock { $0 } }

    func stored(for identity: SourceIdentity) -> SourceCopy? {
        sources.withLock { $0[identity] }.map { SourceCopy(head: $0.head, bytes: $0.bytes) }
    }

    func store(_ source: ReceivedSource) {
        stores.withLock { $0 += 1 }
        if keeps { sources.withLock { $0[source.identity] = source } }
    }

    func refresh(_ head: SourceHead) {
        sources.withLock { $0[head.identity] = $0[head.identity].map { ReceivedSource(head: head, bytes: $0.bytes) } }
    }

    func remove(_ identity: SourceIdentity) { sources.withLock { $0[identity] = nil } }

    func removeAll() { sources.withLock { $0 = [:] } }
}

extension OriginRules {
    /// The rules of a single origin.
    static func of(_ origin: Origin) -> OriginRules {
        guard let rules = DownloadRules(DownloadConfiguration(origins: [origin]))[origin.name] else {
            preconditionFailure("no rules")
        }
        return rules
    }
}

extension SourceIdentity {
    /// The identity of a path on a test host.
    static func path(_ path: String, host: String = "example.com") -> SourceIdentity {
        guard let url = try? SourceURL(parsing: "http://\(host)\(path)") else { preconditionFailure("not a path") }
        return SourceIdentity(url: url)
    }
}

extension ReceivedSource {
    /// A source whose bytes are its path; fresh for an hour from the start of the manual clock.
    static func stub(_ identity: SourceIdentity) -> ReceivedSource {
        let now = HTTPDate(secondsSince1970: ManualTimekeeper().secondsSince1970)
        return ReceivedSource(
            head: SourceHead(
                identity: identity, validator: .digest("stub"), headerFields: [.cacheControl: "max-age=3600"],
                requestedAt: now, receivedAt: now),
            bytes: SharedBytes(Array(identity.url.path.utf8)))
    }
}

extension SourceCopy {
    var text: String { String(decoding: bytes?.array ?? [], as: UTF8.self) }
}
