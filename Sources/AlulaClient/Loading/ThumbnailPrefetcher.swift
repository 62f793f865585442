public import Foundation

/// Loads thumbnails before they are needed, with low priority, into the caches of a loader.
///
/// Call its methods from `UICollectionViewDataSourcePrefetching`. Releasing the prefetcher cancels its loads.
public final class ThumbnailPrefetcher: Sendable {
    private struct State {
        var tasks: [URL: (number: UInt64, task: Task<Void, Never>)] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Guarded(State())
    private let load: @Sendable (URL) async -> Void

    /// Creates a prefetcher for the files of a loader.
    public convenience init(_ loader: ThumbnailLoader) {
        self.init { url in _ = try? await loader.thumbnail(url, priority: .low) }
    }

    package init(_ load: @escaping @Sendable (URL) async -> Void) { self.load = load }

    deinit { stopPrefetching() }

    /// Starts to load thumbnails, except thumbnails that are already being prefetched.
    public func startPrefetching(_ urls: [URL]) {
        for url in urls {
            state.withLock { [guarded = state, load] state in
                guard state.tasks[url] == nil else { return }
                state.lastNumber += 1
                let number = state.lastNumber
                let task = Task {
                    await load(url)
                    guarded.withLock { if $0.tasks[url]?.number == number { $0.tasks[url] = nil } }
                }
                state.tasks[url] = (number, task)
            }
        }
    }

    /// Cancels the loads of thumbnails that are no longer needed.
    public func stopPrefetching(_ urls: [URL]) {
        let tasks = state.withLock { state in urls.compactMap { state.tasks.removeValue(forKey: $0)?.task } }
        for task in tasks { task.cancel() }
    }

    /// Cancels all loads.
    public func stopPrefetching() {
        let tasks = state.withLock { state in
            defer { state.tasks = [:] }
            return state.tasks.values.map(\.task)
        }
        for task in tasks { task.cancel() }
    }
}
