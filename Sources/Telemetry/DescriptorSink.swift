import Coordination
import Glibc
import Text

/// Writes log lines on its own thread, so that a slow reader of the log never slows a response.
///
/// When the buffer is full, lines are dropped, and their number is written once there is room.
package final class DescriptorSink: LogSink, Sendable {
    private struct State {
        var buffer: [UInt8] = []
        var dropped = 0
        var isWriting = false
        var lastSecond = 0
        var lastSecondText = ""
    }

    private static let maximumBuffered = 4 << 20

    private let descriptor: CInt
    private let format: LogFormat
    private let state = ConditionGuarded(State())

    package init(descriptor: CInt = STDERR_FILENO, format: LogFormat) {
        self.descriptor = descriptor
        self.format = format
        do {
            try WorkThread(named: "log") { self.writeLines() }.detach()
        } catch {
            preconditionFailure("cannot start the log thread: error \(error.systemError)")
        }
    }

    package func write(_ line: LogLine) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        state.withLock { state in
            if state.buffer.count > Self.maximumBuffered {
                state.dropped += 1
            } else {
                append(line, at: time, to: &state)
            }
            self.state.wakeOne()
        }
    }

    /// Waits up to about a second.
    package func flush() {
        for _ in 0..<1_000 {
            if state.withLock({ $0.buffer.isEmpty && !$0.isWriting }) { return }
            usleep(1_000)
        }
    }

    private func append(_ line: LogLine, at time: timespec, to state: inout State) {
        if time.tv_sec != state.lastSecond {
            state.lastSecond = time.tv_sec
            state.lastSecondText = Self.text(of: time.tv_sec)
        }
        let milliseconds = String(time.tv_nsec / 1_000_000 + 1_000).dropFirst()
        format.append(line, time: "\(state.lastSecondText).\(milliseconds)Z", to: &state.buffer)
    }

    private func writeLines() -> Never { while true { blockingWrite(blockingNextLines()) } }

    private func blockingNextLines() -> [UInt8] {
        state.blockingWait { state in
            state.isWriting = !state.buffer.isEmpty
            guard state.isWriting else { return nil }
            var lines = state.buffer
            state.buffer = []
            if state.dropped > 0 {
                let line = LogLine(
                    level: .warning, message: "log lines dropped", fields: [("count", .int(state.dropped))])
                state.dropped = 0
                format.append(line, time: "\(state.lastSecondText).000Z", to: &lines)
            }
            return lines
        }
    }

    private func blockingWrite(_ lines: [UInt8]) {
        unsafe lines.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                guard let base = bytes.baseAddress else { return }
                let count = unsafe Glibc.write(descriptor, base + written, bytes.count - written)
                if count < 0, errno != EINTR { return }
                written += max(0, count)
            }
        }
    }

    private static func text(of second: Int) -> String {
        var second = second
        var components = unsafe tm()
        unsafe gmtime_r(&second, &components)
        return
            unsafe "\(components.tm_year + 1900)-\((components.tm_mon + 1).twoDigits)-\(components.tm_mday.twoDigits)T"
            + "\(components.tm_hour.twoDigits):\(components.tm_min.twoDigits):\(components.tm_sec.twoDigits)"
    }
}
