package struct PrefetchConfiguration: Sendable {
    package var maximumActive = 1
    /// The maximum number of jobs, including ended ones; a new job replaces the oldest ended one.
    package var maximumJobs = 100
    /// How long an ended job can be read.
    package var retention = Duration.seconds(3_600)
    /// Maximum bytes of ended jobs' reports; a new job replaces the oldest.
    package var maximumReportBytes = 16 << 20
    package var timeLimit = Duration.seconds(15)
    /// The number of attempts for a thumbnail that is rejected because of overload.
    package var attempts = 5
    package var pause = Duration.milliseconds(25)
    package var saveInterval = Duration.seconds(1)

    package init() {}
}
