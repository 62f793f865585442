enum SourceQueue {
    /// Calls `report` for each outcome as it arrives, in one task.
    ///
    /// Results that failed because of too much parallel work are retried at the end, one source at a time. After a
    /// failure that ends everything, or if the task is canceled, no more results are started.
    ///
    /// - Parameter outcomes: Renders a source, in all renditions or those in the second argument.
    /// - Returns: Whether all sources were tried.
    static func run(
        _ count: Int, atOnce: Int, _ outcomes: @escaping @Sendable (Int, [Int]?) async -> [RenditionOutcome],
        report: (RenditionOutcome) -> Void
    ) async -> Bool {
        var again: [(source: Int, renditions: [Int])] = []
        var isEnded = false
        await withTaskGroup(of: [RenditionOutcome].self) { group in
            var next = 0
            func begin() {
                guard next < count, !isEnded, !Task.isCancelled else { return }
                let source = next
                next += 1
                group.addTask { await outcomes(source, nil) }
            }
            for _ in 0..<max(1, atOnce) { begin() }
            while let done = await group.next() {
                let isCanceled = Task.isCancelled
                let isRetried: (RenditionOutcome) -> Bool = { !isCanceled && $0.failure?.isWorthRetrying ?? false }
                for outcome in done where !isRetried(outcome) { report(outcome) }
                let renditions = done.filter(isRetried).map(\.rendition)
                if let source = done.first?.source, !renditions.isEmpty { again.append((source, renditions)) }
                isEnded = isEnded || done.contains { $0.failure?.isFatal ?? false }
                begin()
            }
            isEnded = isEnded || next < count
        }
        for (source, renditions) in again {
            guard !isEnded, !Task.isCancelled else { return false }
            for done in await outcomes(source, renditions) {
                report(done)
                isEnded = isEnded || done.failure?.isFatal ?? false
            }
        }
        return !isEnded && !Task.isCancelled
    }
}
