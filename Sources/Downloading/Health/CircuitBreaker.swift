package import Coordination

/// Loads only from origins that are not suspended, and records the result of every transfer.
///
/// If a failed transfer makes its origin suspect, sources that have worked before are tested one after another, in the
/// slot of the failed transfer. A test reads only the header of the response.
package final class CircuitBreaker: DataLoading {
    private let loader: any DataLoading
    private let timekeeper: any Timekeeper
    private let table = Locked(OriginHealthTable())
    private let held = Locked<Set<OriginKey>>([])
    private let observer: @Sendable (OriginSnapshot) -> Void

    /// - Parameter observer: Called when an origin becomes or stops being reachable or suspended; on any thread,
    ///   outside locks.
    package init(
        _ loader: any DataLoading, timekeeper: any Timekeeper,
        observer: @escaping @Sendable (OriginSnapshot) -> Void = { _ in }
    ) {
        self.loader = loader
        self.timekeeper = timekeeper
        self.observer = observer
    }

    package func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferResult {
        let current = Locked<OriginRequest?>(nil)
        // Tests never carry a client's fields.
        try move(to: request.identity.withoutFields, current: current, progress: progress)
        let now = timekeeper.now
        if let originRequest = current.withLock({ $0 }), let test = update({ $0.test(before: originRequest, at: now) })
        {
            await run(test, of: originRequest.origin)
        }
        let result: Result<TransferResult, any Error>
        do {
            let transferred = try await loader.load(request, progress: progress) { (url) throws(DownloadError) in
                try admitHop(url)
                guard current.withLock({ $0?.origin }) != url.origin else { return }
                try self.move(
                    to: SourceIdentity(url: url, rules: request.identity.rules.unnamed), current: current,
                    progress: progress)
            }
            result = .success(transferred)
        } catch {
            result = .failure(error)
        }
        let report = OriginReport(result, hasResponse: progress.hasResponse)
        if let (origin, test) = leave(current, report: report) { await run(test, of: origin) }
        return try result.get()
    }

    package var originHealth: OriginHealthSummary {
        let held = held.withLock { $0 }
        return table.withLock { $0.summary(at: timekeeper.now, held: held) }
    }

    package func isHeld(_ origin: OriginKey) -> Bool { held.withLock { $0.contains(origin) } }

    package func setHeld(_ isHeld: Bool, origin: OriginKey) {
        let isChange = held.withLock { isHeld ? $0.insert(origin).inserted : $0.remove(origin) != nil }
        guard isChange, let snapshot = originHealth.origins.first(where: { $0.origin == origin }) else { return }
        observer(snapshot)
    }

    /// Ends the request to the previous origin, which redirected the transfer, and admits or rejects the next one.
    private func move(
        to source: SourceIdentity, current: Locked<OriginRequest?>, progress: TransferProgress
    ) throws(DownloadError) {
        _ = leave(current, report: .success)
        progress.awaitResponse()
        let origin = source.url.origin
        if isHeld(origin) { throw .originHeld }
        let now = timekeeper.now
        switch update({ $0.admit(origin, progress: progress, at: now) }) {
        case .granted(let permit):
            current.withLock { $0 = OriginRequest(origin: origin, source: source, permit: permit) }
        case .rejected(let pause): throw .originSuspended(seconds: max(1, Int(pause.seconds.rounded(.up))))
        }
    }

    private func leave(_ current: Locked<OriginRequest?>, report: OriginReport) -> (OriginKey, OriginTest)? {
        let ended = current.exchange(nil)
        let now = timekeeper.now
        guard let ended, let test = update({ $0.end(ended, report: report, at: now) }) else { return nil }
        return (ended.origin, test)
    }

    /// Tests the origin and records the results; continues even if the caller is canceled.
    private func run(_ test: OriginTest, of origin: OriginKey) async {
        let loader = loader
        let testResults = isHeld(origin) ? [] : await Task.detached { await test.run(with: loader) }.value
        let now = timekeeper.now
        update { $0.conclude(test, of: origin, results: testResults, at: now) }
    }

    /// Changes the health table, and reports changed states to the observer.
    private func update<Outcome>(_ change: (inout OriginHealthTable) -> Outcome) -> Outcome {
        let (outcome, changes) = table.withLock { table in
            let outcome = change(&table)
            return (outcome, table.takeChanges())
        }
        for origin in changes { observer(origin) }
        return outcome
    }
}

extension OriginTest {
    /// Requests one source after another until one is conclusive; after a timeout, requests the rest concurrently.
    ///
    /// So one source that hangs, which a client may have chosen, neither decides the test nor delays it for long.
    fileprivate func run(with loader: any DataLoading) async -> [OriginTestResult] {
        var testResults: [OriginTestResult] = []
        var rest = sources[...]
        while let source = rest.popFirst() {
            let (testResult, hasTimedOut) = await Self.test(source, with: loader)
            testResults.append(testResult)
            if cause.isRefuted(by: testResult.report) { break }
            guard hasTimedOut else { continue }
            testResults += await withTaskGroup(of: OriginTestResult.self) { group in
                for source in rest { group.addTask { await Self.test(source, with: loader).testResult } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            break
        }
        return testResults
    }

    private static func test(
        _ source: SourceIdentity, with loader: any DataLoading
    ) async -> (testResult: OriginTestResult, hasTimedOut: Bool) {
        let progress = TransferProgress()
        let result: Result<TransferResult, any Error>
        do {
            let request = TransferRequest(identity: source, needsBody: false)
            result = .success(try await loader.load(request, progress: progress))
        } catch {
            result = .failure(error)
        }
        let report = OriginReport(result, hasResponse: progress.hasResponse)
        if case .failure(DownloadError.timedOut) = result {
            return (OriginTestResult(source: source, report: report), true)
        }
        return (OriginTestResult(source: source, report: report), false)
    }
}
