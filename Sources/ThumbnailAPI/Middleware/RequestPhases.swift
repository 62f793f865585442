import Telemetry
import ThumbnailTypes

struct RequestPhases: Sendable, Equatable {
    /// The time spent waiting for a download slot, a turn, memory and a thread.
    private(set) var queue: Duration?
    private(set) var download: Duration?
    private(set) var decode: Duration?
    private(set) var render: Duration?
    private(set) var encode: Duration?

    init(_ timings: [StepTiming]) {
        func time(_ name: String) -> Duration? { timings.last { $0.name == name }?.duration }
        (queue, decode, render, encode) = (time("queue"), time("decode"), time("render"), time("encode"))
        guard let source = time("source") else { return }
        // A transfer that other requests share may have begun earlier.
        download = min(time("transfer") ?? source, source)
        queue = (queue ?? .zero) + source - (download ?? source)
    }

    /// The phases that occurred, in order.
    var named: [(name: String, time: Duration)] {
        [("queue", queue), ("download", download), ("decode", decode), ("render", render), ("encode", encode)]
            .compactMap { name, time in time.map { (name, $0) } }
    }
}
