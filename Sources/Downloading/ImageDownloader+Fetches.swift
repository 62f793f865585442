import Coordination
import HTTPTypes

struct FetchFailure: Error {
    let error: DownloadError
    let exchange: OriginExchange?
}

extension ImageDownloader {
    func launch(_ actions: [State.StartAction], _ work: @escaping @Sendable (State.StartAction) async -> Void) {
        for action in actions {
            let unwanted = shell.withLock { shell -> Task<Void, Never>? in
                // Creating a task under the lock is safe, because it only enqueues it, and necessary: otherwise a
                // lookup could be recorded after its transfer. Detached: a shared fetch must not inherit its first
                // caller's priority and task-local values.
                let task = Task.detached { await work(action) }
                guard let isWanted = shell.state.isWanted(action.fetch) else { return nil }
                if isWanted { shell.tasks[action.fetch] = task }
                return isWanted ? nil : task
            }
            unwanted?.cancel()
        }
    }

    func startTransfers(_ actions: [State.StartAction]) {
        launch(actions, transfer)
        if !actions.isEmpty { activity?.watch() }
    }

    func lookUp(_ action: State.StartAction) async {
        let identity = action.request.identity
        let retrieved = await cache.retrieve(identity)
        let end = shell.withLock { shell in
            shell.tasks[action.fetch] = nil
            return shell.state.endLookup(action.fetch, with: retrieved, at: timekeeper.now) { request in
                retrieved.map { reuse(of: $0, for: request) } ?? .needsValidation
            }
        }
        startTransfers(end.toStart)
        if end.needsRevalidation { revalidate(identity) }
        if let retrieved {
            for continuation in end.served { continuation.resume(returning: .fetched(retrieved)) }
        }
        for continuation in end.rejected { continuation.resume(throwing: DownloadError.queueFull) }
    }

    private func transfer(_ action: State.StartAction) async {
        let identity = action.request.identity
        let reason = reason(for: action.request, storedCopy: action.storedCopy)
        observer.onStart(action.slotWait)
        reportStart(of: action)
        let begin = timekeeper.now
        let result = await result(of: action, reason: reason)
        action.progress.replaceReservation(with: nil)
        let end = FinishedTransfer(identity, result: result, progress: action.progress, in: timekeeper.now - begin)
        // Before the fetch is forgotten, and so before another one of the source may begin.
        observer.onTransferReport?(TransferReport(identity, state: .ended(end), progress: action.progress))
        let finished = finish(action, with: result)
        startTransfers(finished.toStart)
        activity?.watch()
        observer.onFinish(end)
        resume(finished.waiters, of: action, with: result, reason: reason)
    }

    private func result(
        of action: State.StartAction, reason: OriginExchange.Reason
    ) async -> Result<FetchOutcome, any Error> {
        do {
            try await reserveMemory(for: action)
            let outcome = try await fetch(action, reason: reason)
            // From here, `SharedBytes` counts the received body.
            return .success(outcome.holding(action.progress.replaceReservation(with: nil)))
        } catch {
            let identity = action.request.identity
            // A 404 for one target of a source does not apply to its other targets.
            switch error as? DownloadError {
            case .notFound? where !action.request.directives.noStore && !identity.sharesTargets: cache.remove(identity)
            case .accessDenied?: cache.remove(identity)
            default: break
            }
            return .failure(error)
        }
    }

    private func resume(
        _ waiters: [(continuation: Continuation, participation: Participation)], of action: State.StartAction,
        with result: Result<FetchOutcome, any Error>, reason: OriginExchange.Reason
    ) {
        switch result {
        case .success(let outcome):
            for (continuation, participation) in waiters {
                continuation.resume(returning: outcome.shared(as: participation))
            }
        case .failure(let error):
            // A fetch with callers is never canceled, so the loader has shut down.
            let shared = (error as? DownloadError) ?? (error is CancellationError ? .shuttingDown : nil)
            let exchange =
                shared == .originHeld
                ? nil
                : OriginExchange(
                    reason: reason, status: shared?.upstreamStatus, hasFailed: true,
                    traceparent: action.request.traceparent)
            let failure: any Error = shared.map { FetchFailure(error: $0, exchange: exchange) } ?? error
            for (continuation, _) in waiters { continuation.resume(throwing: failure) }
        }
    }

    private func finish(
        _ action: State.StartAction, with result: Result<FetchOutcome, any Error>
    ) -> State.FinishedFetch {
        let identity = action.request.identity
        return shell.withLock { shell in
            shell.tasks[action.fetch] = nil
            switch result {
            case .success: shell.state.failures.forgetTarget(of: identity)
            case .failure(let error as DownloadError) where !action.request.directives.noStore:
                shell.state.failures.remember(
                    error, of: identity, atMost: action.progress.errorLifetime, at: timekeeper.now)
            case .failure: break
            }
            let failedTarget: FetchedTarget? = if case .failure = result { FetchedTarget(identity) } else { nil }
            return shell.state.finish(action.fetch, failing: failedTarget, at: timekeeper.now)
        }
    }

    private func reportStart(of action: State.StartAction) {
        guard let report = observer.onTransferReport else { return }
        let identity = action.request.identity
        let progress = action.progress
        report(TransferReport(identity, state: .started, progress: progress))
        progress.watch(every: TransferReport.interval, by: timekeeper) { [weak progress] in
            if let progress { report(TransferReport(identity, state: .progress, progress: progress)) }
        }
    }

    private func reserveMemory(for action: State.StartAction) async throws {
        do {
            action.progress.replaceReservation(
                with: try await budget.reserve(TransferProgress.portion, for: .arrival, of: action.request.flow))
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw DownloadError.memoryFull
        }
    }

    private func fetch(_ action: State.StartAction, reason: OriginExchange.Reason) async throws -> FetchOutcome {
        let request = action.request
        var base = action.storedCopy
        if reason == .otherVariant || base?.bytes == nil && request.needsBytes { base = nil }
        let receiver: any SourceReceiver = request.directives.noStore ? cache : cache.beginFetch(of: request.identity)
        let fetch = OriginFetch(action: action, base: base, reason: reason, receiver: receiver)
        if let scan = request.scan { return try await fetchRanges(of: fetch, by: scan) }
        var result = try await loader.load(
            TransferRequest(identity: request.identity, condition: fetch.condition, traceparent: request.traceparent),
            progress: action.progress)
        if case .notModified(let confirmation) = result {
            if let copy = fetch.copy(confirmedBy: confirmation) { return .fetched(copy) }
            // The 304 is for a version that we do not have: request the source without a condition.
            result = try await loader.load(
                TransferRequest(identity: request.identity, traceparent: request.traceparent),
                progress: action.progress)
        }
        guard case .source(let source) = result else {
            throw DownloadError.protocolError("status 304 without a condition")
        }
        return .fetched(try received(source, by: fetch))
    }

    func received(_ source: ReceivedSource, by fetch: OriginFetch) throws -> SourceCopy {
        let isRefresh = shell.withLock { $0.state.isRefresh(fetch.action.fetch) }
        if isRefresh, !cache.isImage(source) {
            throw DownloadError.notAnImage(source.head.headerFields[.contentType] ?? "no content type")
        }
        if mayStore(fetch) { fetch.receiver.store(source) }
        return SourceCopy(
            head: source.head, bytes: source.bytes,
            exchange: fetch.exchange(status: source.head.status, timings: source.timings))
    }

    func mayStore(_ fetch: OriginFetch) -> Bool {
        !fetch.action.request.directives.noStore && !shell.withLock { $0.state.isInvalidated(fetch.action.fetch) }
    }

    private func reason(for request: SourceRequest, storedCopy: SourceCopy?) -> OriginExchange.Reason {
        guard let storedCopy else { return request.directives.noStore ? .requested : .unknown }
        guard isSelected(storedCopy.head) else { return .otherVariant }
        guard storedCopy.head.freshness.isFresh(at: timekeeper.secondsSince1970) else { return .stale }
        return request.directives == .none ? .unknown : .requested
    }
}
