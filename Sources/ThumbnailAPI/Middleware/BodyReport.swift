import Coordination
import Telemetry
import ThumbnailTypes

/// Publishes the arrival of an image as events; released before the end, it reports that the client disconnected.
final class BodyReport: Sendable {
    private struct State {
        var bytes = 0
        var next = Duration.zero
        var isOpen = false
    }

    private static let interval = Duration.milliseconds(250)

    private let id: String
    private let total: Int?
    private let events: EventLog
    private let timekeeper: any Timekeeper
    private let state = Locked(State())

    /// - Parameter total: The value of `Content-Length`; nil for a chunked body.
    init(id: String, total: Int?, to events: EventLog, timekeeper: any Timekeeper) {
        self.id = id
        self.total = total
        self.events = events
        self.timekeeper = timekeeper
    }

    deinit { end(.failed, error: ErrorCode.clientClosed.rawValue) }

    func start() {
        state.withLock { ($0.isOpen, $0.next) = (true, timekeeper.now + Self.interval) }
        record(.started, bytes: 0)
    }

    /// Publishes at most four events a second.
    func progress(to bytes: Int) {
        let now = timekeeper.now
        let isDue = state.withLock { state in
            state.bytes = bytes
            guard now >= state.next else { return false }
            state.next = now + Self.interval
            return true
        }
        if isDue { record(.progress, bytes: bytes) }
    }

    func finish(at bytes: Int) { end(.finished, at: bytes) }

    /// - Parameter bytes: The bytes received; nil repeats the last number.
    func fail(_ error: any Error, at bytes: Int? = nil) {
        end(.failed, at: bytes, error: (error as? any ServiceError)?.code ?? ErrorCode.internal.rawValue)
    }

    private func end(_ result: ServiceEvent.UploadState, at bytes: Int? = nil, error: String? = nil) {
        let last = state.withLock { state -> Int? in
            defer { state.isOpen = false }
            return state.isOpen ? bytes ?? state.bytes : nil
        }
        if let last { record(result, bytes: last, error: error) }
    }

    private func record(_ state: ServiceEvent.UploadState, bytes: Int, error: String? = nil) {
        events.record(.upload(id: id, state: state, bytes: bytes, total: total, error: error))
    }
}
