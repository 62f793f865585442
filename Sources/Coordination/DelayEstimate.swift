/// How long a job would wait for a thread, told from the jobs before it and from what their like took lately.
///
/// Known at the door, before the job has waited: so who would wait too long can be sent away at once, at no cost.
struct DelayEstimate {
    /// A job's time on a thread counts for one sixteenth of the mean.
    private static let weight = 16

    private var means = [Duration](repeating: .zero, count: WorkerPool.Priority.allCases.count)

    /// Takes in how long a job ran; one that took far longer than its like says little about the next.
    mutating func note(_ duration: Duration, of priority: WorkerPool.Priority) {
        let mean = means[priority.rawValue]
        if mean == .zero {
            means[priority.rawValue] = duration
        } else {
            let bounded = min(duration, mean * 4 + .milliseconds(10))
            means[priority.rawValue] = mean + (bounded - mean) / Self.weight
        }
    }

    /// The wait of a job of this priority behind so many queued jobs of each; what is running is left out.
    ///
    /// Work that has been started comes back to be finished, and goes first then: a job that starts some counts for both.
    func delay(of priority: WorkerPool.Priority, behind queued: [Int], threads: Int) -> Duration {
        let finishing = means[WorkerPool.Priority.finishing.rawValue]
        let started = finishing + means[WorkerPool.Priority.starting.rawValue]
        var work = finishing * queued[WorkerPool.Priority.finishing.rawValue]
        if priority == .starting { work += started * queued[WorkerPool.Priority.starting.rawValue] }
        return work / threads
    }
}

/// What waits for the threads of a pool at one moment.
package struct Backlog: Sendable, Equatable {
    /// Jobs that wait.
    package var count: Int
    /// How long a new job would wait at least.
    package var delay: Duration
    /// For how long there has always been a job waiting.
    package var age: Duration

    /// A snapshot.
    package init(count: Int, delay: Duration, age: Duration) {
        self.count = count
        self.delay = delay
        self.age = age
    }
}
