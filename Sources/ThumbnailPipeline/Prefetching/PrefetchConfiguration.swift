/// The bounds of prefetching.
package struct PrefetchConfiguration: Sendable {
    /// Thumbnails made at once.
    package var maximumActive = 1
    /// Jobs that are remembered, ended ones included; the oldest ended one gives way to a new one.
    package var maximumJobs = 100
    /// How long an ended job is remembered.
    package var memory = Duration.seconds(3_600)
    /// How long one thumbnail may take.
    package var timeLimit = Duration.seconds(15)
    /// How often a thumbnail is tried that was refused because the service had too much to do.
    package var attempts = 5
    /// While the service is busy: the time after which the prefetcher looks again.
    package var pause = Duration.milliseconds(25)
    /// Least time between two notes of a job's progress.
    package var noteInterval = Duration.seconds(1)

    package init() {}
}
