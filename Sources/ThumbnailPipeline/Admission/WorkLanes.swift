package import Coordination
import Imaging

/// Where images are worked on: small work on as many threads as there are workers, dear work on some of its own, in
/// turns.
///
/// However much expensive work is requested, it takes none of the threads that small work needs. This is so even with a
/// single worker: there are two threads then, which share a processor. In both lanes only work that has a turn holds
/// memory: when all that waited had reservations, 128 misses at once reserved 413 MB where 188 MB were in use.
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
    /// Gives small work its turns: two for each thread, so that a thread that ends a piece finds the next one ready.
    package let smallTurns: Turnstile

    /// Lanes over these threads.
    ///
    /// - Parameters:
    ///   - small: Threads for small work.
    ///   - dear: Threads for dear work.
    ///   - maximumWaiting: Pieces of work that may wait for their turn in each lane.
    ///   - timekeeper: Measures waits.
    package init(
        small: WorkerPool, dear: WorkerPool, maximumWaiting: Int, timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.small = small
        self.dear = dear
        turns = Turnstile(places: dear.threadCount, maximumWaiting: maximumWaiting, timekeeper: timekeeper)
        smallTurns = Turnstile(places: 2 * small.threadCount, maximumWaiting: maximumWaiting, timekeeper: timekeeper)
    }

    /// Threads for dear work beside so many workers: half as many, at least one.
    package static func dearThreadCount(beside workers: Int) -> Int { max(1, workers / 2) }

    /// The threads that do work of this price.
    func workers(for price: Duration) -> WorkerPool { price.isDear ? dear : small }

    /// The backlog of a lane at this moment, and the number of places that it has in any case.
    func queue(of lane: Lane) -> (backlog: Backlog, places: Int) {
        switch lane {
        case .small: (smallBacklog, small.threadCount)
        case .dear: (turns.backlog, turns.places)
        }
    }

    /// The work that waits for a turn in the small lane, or has one and waits for a thread.
    package var smallBacklog: Backlog {
        let (turns, threads) = (smallTurns.backlog, small.backlog)
        return Backlog(
            count: turns.count + threads.count, delay: turns.delay + threads.delay, age: max(turns.age, threads.age))
    }

    /// Pieces of work that are being done.
    var runningCount: Int { small.runningCount + dear.runningCount }

    /// Pieces of work that wait for a thread or a turn.
    package var waitingCount: Int { small.queuedCount + smallTurns.backlog.count + turns.backlog.count }
}
