/// How many workers there are, how they are started and when they have done enough.
package struct SandboxConfiguration: Sendable {
    /// How a worker is started.
    package var launch: WorkerLaunch
    /// Processes that decode: one for each picture at a time, and one to take the place of one that ends.
    package var decoderCount: Int
    /// Processes that encode, once there is something for them: one for each picture at a time.
    package var encoderCount: Int
    /// When a worker that decodes is replaced, whatever it has gathered by then, and one that encodes.
    package var decoderLife = WorkerLife.decoder
    package var encoderLife = WorkerLife.encoder
    /// CPU time that a decode may take whatever its price, and how many times its price besides.
    package var leastDecodeTime = Duration.seconds(1)
    package var decodeTimeShare = 8.0
    /// How long a content that ended workers is not decoded.
    package var quarantine = Duration.seconds(600)

    /// Workers for `parallelism` pictures at a time.
    package init(launch: WorkerLaunch, parallelism: Int) {
        self.launch = launch
        decoderCount = parallelism + 1
        encoderCount = parallelism
    }

    /// CPU time that a decode may take which should take this long: generous, because the price is that of another machine.
    func processorTime(forPriceOf price: Duration) -> Duration { leastDecodeTime + price * decodeTimeShare }
}
