/// How many workers run, how they start, and when they are replaced.
package struct SandboxConfiguration: Sendable {
    /// The command and the limits of a worker.
    package var launch: WorkerLaunch
    /// Number of decoders: one for each image that is decoded at the same time, and a spare.
    package var decoderCount: Int
    /// Number of encoders, started when the first image needs one: one for each image that is encoded at the same time.
    package var encoderCount: Int
    /// When a decoder, or an encoder, is replaced.
    package var decoderLife = WorkerLife.decoder
    package var encoderLife = WorkerLife.encoder
    /// CPU time that a decode may take: this, and its price times the factor.
    package var leastDecodeTime = Duration.seconds(1)
    package var decodeTimeShare = 8.0
    /// How long a content that ended workers is refused.
    package var quarantine = Duration.seconds(600)

    /// Workers for `parallelism` images at the same time.
    package init(launch: WorkerLaunch, parallelism: Int) {
        self.launch = launch
        decoderCount = parallelism + 1
        encoderCount = parallelism
    }

    /// CPU time that a decode of this price may take; it is generous, because prices were measured on another machine.
    func processorTime(forPriceOf price: Duration) -> Duration { leastDecodeTime + price * decodeTimeShare }
}
