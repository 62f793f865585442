/// Checks that a body arrives fast enough: at least a kilobyte a second over five seconds.
///
/// This bounds the time that a client can keep a body open while sending almost nothing. Checked periodically by one
/// thread.
struct BodyPace {
    private static let span = Duration.seconds(5)
    private static let minimumBytes = 5_000
    /// The allowed delay of bytes in transit, and the shortest interval between recorded samples.
    private static let tolerance = Duration.milliseconds(250)

    private struct Sample {
        let time: Duration
        let bytes: Int
    }

    /// The samples of the last seconds, the first of them older than a span if there is one.
    private var samples: [Sample] = []

    init() {}

    /// Takes a sample; returns true if too few bytes have arrived.
    ///
    /// - Parameter receivedBytes: The total number of bytes received on the connection; negative if unknown.
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
