import Recipes

package struct SandboxConfiguration: Sendable {
    package var launch: WorkerLaunch
    /// The number of decoders: one per concurrently decoded image, and a spare.
    package var decoderCount: Int
    /// The number of encoders: one per concurrently encoded image, started when first needed.
    package var encoderCount: Int
    package var decoderLifetime = WorkerLifetime.decoder
    package var encoderLifetime = WorkerLifetime.encoder
    /// The CPU time that any decode may take, in addition to a multiple of its estimated cost.
    package var minimumDecodeTime = Duration.seconds(1)
    package var decodeTimeMultiple = 8.0
    /// The CPU time that a decode in the lane for small work may take beyond twice its cost.
    #if DEBUG
    // Costs are measured with optimized code.
    package var minimumSmallDecodeTime = Duration.seconds(1)
    #else
    package var minimumSmallDecodeTime = Duration.milliseconds(50)
    #endif
    package var quarantine = Duration.seconds(600)

    package init(launch: WorkerLaunch, parallelism: Int) {
        self.launch = launch
        decoderCount = parallelism + 1
        encoderCount = parallelism
    }

    /// Returns the limit for a decode; a header that lets it exceed the limit is false.
    func processorTime(
        ofDecoding header: ImageHeader, by plan: DecodePlan, fileByteCount: Int, limits: ImagingLimits
    ) -> Duration {
        let cost = header.timeCost(of: plan, fileByteCount: fileByteCount)
        return limits.endsUnderestimatedDecodes
            ? processorTime(forSmallCostOf: cost) : processorTime(forCostOf: cost, runs: header.runsTime(of: plan))
    }

    /// Returns the limit for a decode in the lane for small work, which a few long decodes would fill.
    func processorTime(forSmallCostOf cost: Duration) -> Duration { minimumSmallDecodeTime + cost * 2 }

    /// Returns the limit for a decode; it is generous, because costs were measured on another machine.
    ///
    /// - Parameter runs: The part of the cost that is known exactly, such as repeated starts of a decoder; twice this
    ///   part is enough.
    func processorTime(forCostOf cost: Duration, runs: Duration = .zero) -> Duration {
        minimumDecodeTime + (cost - runs) * decodeTimeMultiple + runs * min(2, decodeTimeMultiple)
    }
}
