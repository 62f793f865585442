/// Requires bodies to arrive at a kilobyte per second, averaged over five seconds.
///
/// This bounds the time for which a client can keep a body open while sending almost nothing. Used by one thread.
struct BodyPace {
    private static let span = Duration.seconds(5)
    private static let minimumBytes = 5_000
    /// The allowance for bytes in transit; also the shortest interval between samples.
    private static let tolerance = Duration.milliseconds(250)

    private struct Sample {
        let time: Duration
        let bytes: Int
    }

    private var samples: [Sample] = []

    init() {}

    /// - Parameter receivedBytes: On the whole connection; negative if unknown.
    mutating func isTooSlow(receivedBytes: Int, at now: Duration) -> Bool {
        guard receivedBytes >= 0 else { return false }
        if let latest = samples.last, now - latest.time < Self.tolerance { return false }
        samples.append(Sample(time: now, bytes: receivedBytes))
        guard let begin = samples.lastIndex(where: { now - $0.time >= Self.span + Self.tolerance }) else {
            return false
        }
        samples.removeFirst(begin)
        return receivedBytes - samples[0].bytes < Self.minimumBytes
    }
}
