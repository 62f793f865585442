package struct SandboxConfiguration: Sendable {
    package var launch: WorkerLaunch
    /// One per image decoded concurrently, and a spare.
    package var decoderCount: Int
    /// One per image encoded concurrently; started for the first image that needs one.
    package var encoderCount: Int
    package var decoderLifetime = WorkerLifetime.decoder
    package var encoderLifetime = WorkerLifetime.encoder
    /// A decode may take this CPU time plus its estimated cost times the factor.
    package var minimumDecodeTime = Duration.seconds(1)
    package var decodeTimeShare = 8.0
    package var quarantine = Duration.seconds(600)

    package init(launch: WorkerLaunch, parallelism: Int) {
        self.launch = launch
        decoderCount = parallelism + 1
        encoderCount = parallelism
    }

    /// Generous, because costs were measured on another machine.
    func processorTime(forCostOf cost: Duration) -> Duration { minimumDecodeTime + cost * decodeTimeShare }
}
