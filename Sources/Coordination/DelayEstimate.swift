/// How long a job would wait for a thread, estimated from the queued jobs and the recent durations of such jobs.
///
/// Known before the job waits, so a job that would wait too long can be refused at once, at no cost.
struct DelayEstimate {
    /// A job's time on a thread counts for one sixteenth of the mean.
    private static let weight = 16

    private var means = [Duration](repeating: .zero, count: WorkerPool.Priority.allCases.count)

    /// Notes how long a job ran; a job that took far longer than others is counted as shorter.
    mutating func note(_ duration: Duration, of priority: WorkerPool.Priority) {
        let mean = means[priority.rawValue]
        if mean == .zero {
            means[priority.rawValue] = duration
        } else {
            let bounded = min(duration, mean * 4 + .milliseconds(10))
            means[priority.rawValue] = mean + (bounded - mean) / Self.weight
        }
    }

    /// The wait of a job of this priority behind so many queued jobs of each priority; running jobs are left out.
    ///
    /// Started work comes back to be finished, and then goes first, so a job that starts work counts for both.
    func delay(of priority: WorkerPool.Priority, behind queued: [Int], threads: Int) -> Duration {
        let finishing = means[WorkerPool.Priority.finishing.rawValue]
        let started = finishing + means[WorkerPool.Priority.starting.rawValue]
        var work = finishing * queued[WorkerPool.Priority.finishing.rawValue]
        if priority == .starting { work += started * queued[WorkerPool.Priority.starting.rawValue] }
        return work / threads
    }
}

/// The jobs that wait for the threads of a pool at one moment.
package struct Backlog: Sendable, Equatable {
    /// Jobs that wait.
    package var count: Int
    /// How long a new job would wait at least.
    package var delay: Duration
    /// For how long there has always been a job waiting.
    package var age: Duration

    /// A queue with these figures.
    package init(count: Int, delay: Duration, age: Duration) {
        self.count = count
        self.delay = delay
        self.age = age
    }
}
