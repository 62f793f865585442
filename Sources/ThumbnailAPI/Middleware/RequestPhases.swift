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
        var source = Duration?.none
        var transfer = Duration?.none
        for step in timings {
            switch step.name {
            case "source": source = step.duration
            case "transfer": transfer = step.duration
            case "queue": queue = step.duration
            case "decode": decode = step.duration
            case "render": render = step.duration
            case "encode": encode = step.duration
            default: break
            }
        }
        guard let source else { return }
        // A transfer that other requests share may have begun earlier.
        download = min(transfer ?? source, source)
        queue = (queue ?? .zero) + source - (download ?? source)
    }

    /// The phases that occurred, in order.
    var named: [(name: String, time: Duration)] {
        [("queue", queue), ("download", download), ("decode", decode), ("render", render), ("encode", encode)]
            .compactMap { name, time in time.map { (name, $0) } }
    }
}
