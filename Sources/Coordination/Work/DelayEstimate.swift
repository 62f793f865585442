/// Estimates queue delays from the queued jobs and the recent durations of such jobs.
///
/// The estimate is available before a job waits, so that one that would wait too long can be rejected immediately.
struct DelayEstimate {
    /// A new duration counts for one sixteenth of the mean.
    private static let weight = 16

    private var means = [Duration](repeating: .zero, count: WorkerPool.Priority.allCases.count)

    /// Records a duration, capped if it is an outlier.
    mutating func record(_ duration: Duration, of priority: WorkerPool.Priority) {
        let mean = means[priority.rawValue]
        if mean == .zero {
            means[priority.rawValue] = duration
        } else {
            let bounded = min(duration, mean * 4 + .milliseconds(10))
            means[priority.rawValue] = mean + (bounded - mean) / Self.weight
        }
    }

    /// Returns the delay behind the queued jobs of each priority, ignoring running jobs.
    ///
    /// Work that was started returns to the queue to be finished and then goes first, so a job that starts work counts
    /// twice.
    func delay(of priority: WorkerPool.Priority, behind queued: [Int], threads: Int) -> Duration {
        let finishing = means[WorkerPool.Priority.finishing.rawValue]
        let started = finishing + means[WorkerPool.Priority.starting.rawValue]
        var work = finishing * queued[WorkerPool.Priority.finishing.rawValue]
        if priority == .starting { work += started * queued[WorkerPool.Priority.starting.rawValue] }
        return work / threads
    }
}
