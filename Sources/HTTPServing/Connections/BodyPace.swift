/// Whether a body comes fast enough: a kilobyte a second over five seconds is the least.
///
/// So a client that sends next to nothing has no body under way for long. Looked at now and then, by one thread.
struct BodyPace {
    /// Time over which a body is judged.
    private static let span = Duration.seconds(5)
    /// Fewest bytes in that time.
    private static let fewestBytes = 5_000
    /// Time by which bytes on their way may be late; looks are also not remembered more often.
    private static let tolerance = Duration.milliseconds(250)

    private struct Look {
        let time: Duration
        let bytes: Int
    }

    /// The looks of the last seconds, the first of them older than a span if there is one.
    private var looks: [Look] = []

    /// A body that has just begun.
    init() {}

    /// Looks once; true if less has arrived than must.
    ///
    /// - Parameter receivedBytes: Bytes that the connection has received in all; negative if that is not known.
    mutating func isTooSlow(receivedBytes: Int, at now: Duration) -> Bool {
        guard receivedBytes >= 0 else { return false }
        if let latest = looks.last, now - latest.time < Self.tolerance { return false }
        looks.append(Look(time: now, bytes: receivedBytes))
        guard let begin = looks.lastIndex(where: { now - $0.time >= Self.span + Self.tolerance }) else { return false }
        looks.removeFirst(begin)
        return receivedBytes - looks[0].bytes < Self.fewestBytes
    }
}
