package import Coordination
import Imaging

/// Where images are worked on: small work on as many threads as there are workers, dear work on some of its own, in
/// turns.
///
/// However much dear work is asked for, it takes none of the threads that small work needs, and holds memory only for
/// as many pieces as have a turn. This is so even with a single worker: there are two threads then, which share a
/// processor.
package struct WorkLanes: Sendable {
    /// A lane of work.
    package enum Lane: Sendable, CaseIterable {
        /// Priced below ``Duration/isDear``, as thumbnails are.
        case small
        /// Priced at ``Duration/isDear`` or more.
        case dear
    }

    /// The threads of small work.
    package let small: WorkerPool
    /// The threads of dear work, one for each turn.
    package let dear: WorkerPool
    /// Gives dear work its turns.
    package let turns: Turnstile

    /// Lanes over these threads.
    ///
    /// - Parameters:
    ///   - small: Threads for small work.
    ///   - dear: Threads for dear work.
    ///   - maximumWaiting: Pieces of dear work that may wait for their turn.
    ///   - timekeeper: Measures waits.
    package init(
        small: WorkerPool, dear: WorkerPool, maximumWaiting: Int, timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.small = small
        self.dear = dear
        turns = Turnstile(places: dear.threadCount, maximumWaiting: maximumWaiting, timekeeper: timekeeper)
    }

    /// Threads for dear work beside so many workers: half as many, at least one.
    package static func dearThreadCount(beside workers: Int) -> Int { max(1, workers / 2) }

    /// The threads that do work of this price.
    func workers(for price: Duration) -> WorkerPool { price.isDear ? dear : small }

    /// The backlog of a lane at this moment, and the number of places that it has in any case.
    func queue(of lane: Lane) -> (backlog: Backlog, places: Int) {
        switch lane {
        case .small: (small.backlog, small.threadCount)
        case .dear: (turns.backlog, turns.places)
        }
    }

    /// Pieces of work that are being done.
    var runningCount: Int { small.runningCount + dear.runningCount }

    /// Pieces of work that wait for a thread or a turn.
    package var waitingCount: Int { small.queuedCount + turns.backlog.count }
}
