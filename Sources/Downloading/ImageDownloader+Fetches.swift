import Coordination
import HTTPTypes

struct FetchFailure: Error {
    let error: DownloadError
    let exchange: OriginExchange?
}

extension ImageDownloader {
    func start(_ launches: [State.Launch], with work: @escaping @Sendable (State.Launch) async -> Void) {
        for launch in launches {
            let unwanted = shell.withLock { shell -> Task<Void, Never>? in
                // Safe under the lock, because creating a task only enqueues it, and necessary: a lookup that has gone
                // on to its transfer must not be recorded afterward. Detached: a shared fetch must not inherit the
                // priority and task-local values of its first caller.
                let task = Task.detached { await work(launch) }
                guard let isWanted = shell.state.isWanted(launch.flight) else { return nil }
                if isWanted { shell.tasks[launch.flight] = task }
                return isWanted ? nil : task
            }
            unwanted?.cancel()
        }
    }

    func start(_ launches: [State.Launch]) {
        start(launches, with: transfer)
        if !launches.isEmpty { activity?.watch() }
    }

    func lookUp(_ launch: State.Launch) async {
        let identity = launch.request.identity
        let found = await cache.retrieve(identity)
        let end = shell.withLock { shell in
            shell.tasks[launch.flight] = nil
            return shell.state.endLookup(launch.flight, with: found, at: timekeeper.now) { request in
                found.map { reuse(of: $0, for: request) } ?? .needsValidation
            }
        }
        start(end.launches)
        if end.needsRevalidation { revalidate(identity) }
        if let found {
            for answer in end.served { answer.resume(returning: found) }
        }
        for answer in end.refused { answer.resume(throwing: DownloadError.queueFull) }
    }

    private func transfer(_ launch: State.Launch) async {
        let identity = launch.request.identity
        let reason = reason(for: launch.request, known: launch.known)
        reportStart(of: launch)
        let begin = timekeeper.now
        let result: Result<SourceCopy, any Error>
        do {
            try await reserveMemory(for: launch.progress)
            result = .success(try await fetch(launch, reason: reason))
        } catch {
            // If one target reports that the source is gone, that does not apply to the others.
            if !launch.request.directives.noStore, !identity.sharesTargets, case .notFound? = error as? DownloadError {
                cache.remove(identity)
            }
            result = .failure(error)
        }
        // A received body now counts itself as living memory.
        launch.progress.take(nil)
        let outcome = Self.outcome(of: result)
        // Before the fetch is forgotten, and so before another one of the source may begin.
        observer.transfer?(TransferReport(identity, .ended(outcome), launch.progress))
        let completion = finish(launch, with: result)
        start(completion.launches)
        activity?.watch()
        observer.finished(outcome, launch.progress.receivedBytes, timekeeper.now - begin)
        switch result {
        case .success(var copy):
            for (answer, participation) in completion.answers {
                copy.participation = participation
                answer.resume(returning: copy)
            }
        case .failure(let error):
            // The downloader never cancels a fetch that still has callers, so the loader itself has stopped.
            let shared = (error as? DownloadError) ?? (error is CancellationError ? .shuttingDown : nil)
            let exchange = OriginExchange(
                reason: reason, status: shared?.upstreamStatus, hasFailed: true,
                traceparent: launch.request.traceparent)
            let failure: any Error = shared.map { FetchFailure(error: $0, exchange: exchange) } ?? error
            for (answer, _) in completion.answers { answer.resume(throwing: failure) }
        }
    }

    private func finish(_ launch: State.Launch, with result: Result<SourceCopy, any Error>) -> State.Completion {
        let identity = launch.request.identity
        return shell.withLock { shell in
            shell.tasks[launch.flight] = nil
            switch result {
            case .success: shell.state.failures.forgetTarget(of: identity)
            case .failure(let error as DownloadError) where !launch.request.directives.noStore:
                shell.state.failures.remember(
                    error, of: identity, atMost: launch.progress.errorLifetime, at: timekeeper.now)
            case .failure: break
            }
            let failedTarget: FetchedTarget? = if case .failure = result { FetchedTarget(identity) } else { nil }
            return shell.state.finish(launch.flight, failing: failedTarget, at: timekeeper.now)
        }
    }

    private static func outcome(of result: Result<SourceCopy, any Error>) -> DownloadOutcome {
        switch result {
        case .success(let copy): copy.exchange?.status == 304 ? .notModified : .success
        case .failure(let error): DownloadOutcome(error)
        }
    }

    private func reportStart(of launch: State.Launch) {
        guard let report = observer.transfer else { return }
        let (identity, progress) = (launch.request.identity, launch.progress)
        report(TransferReport(identity, .started, progress))
        progress.watch(every: TransferReport.interval, by: timekeeper) { [weak progress] in
            if let progress { report(TransferReport(identity, .progress, progress)) }
        }
    }

    private func reserveMemory(for progress: TransferProgress) async throws {
        do {
            progress.take(try await budget.reserve(TransferProgress.portion, for: .arrival))
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw DownloadError.memoryFull
        }
    }

    private func fetch(_ launch: State.Launch, reason: OriginExchange.Reason) async throws -> SourceCopy {
        let request = launch.request
        var base = launch.known
        if reason == .otherVariant || base?.bytes == nil && request.needsBytes { base = nil }
        let condition = base.flatMap { SourceCondition($0.head) }
        let receiver: any SourceReceiver =
            request.directives.noStore ? cache : cache.beginFetch(of: request.identity)
        var answer = try await loader.load(
            TransferRequest(identity: request.identity, condition: condition, traceparent: request.traceparent),
            progress: launch.progress)
        if case .notModified(let confirmation) = answer {
            if let base, let head = base.head.confirmed(by: confirmation) {
                receiver.refresh(head)
                let exchange = OriginExchange(
                    reason: reason, status: 304, timings: confirmation.timings, traceparent: request.traceparent)
                return SourceCopy(head: head, bytes: base.bytes, exchange: exchange)
            }
            // The 304 is for a version that we do not have: request the source itself.
            answer = try await loader.load(
                TransferRequest(identity: request.identity, traceparent: request.traceparent),
                progress: launch.progress)
        }
        guard case .source(let source) = answer else {
            throw DownloadError.protocolError("status 304 without a condition")
        }
        let (isInvalidated, isRefresh) = shell.withLock {
            ($0.state.isInvalidated(launch.flight), $0.state.isRefresh(launch.flight))
        }
        if isRefresh, !cache.isImage(source) {
            throw DownloadError.notAnImage(source.head.headerFields[.contentType] ?? "no content type")
        }
        if !request.directives.noStore, !isInvalidated { receiver.store(source) }
        return SourceCopy(
            head: source.head, bytes: source.bytes,
            exchange: OriginExchange(
                reason: reason, status: source.head.status, timings: source.timings, traceparent: request.traceparent))
    }

    private func reason(for request: SourceRequest, known: SourceCopy?) -> OriginExchange.Reason {
        guard let known else { return request.directives.noStore ? .requested : .unknown }
        guard isSelected(known.head) else { return .otherVariant }
        guard known.head.freshness.isFresh(at: timekeeper.secondsSince1970) else { return .stale }
        return request.directives == .none ? .unknown : .requested
    }
}
