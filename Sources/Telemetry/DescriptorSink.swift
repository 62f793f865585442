import CLinux
import Coordination
import Glibc

/// Writes log lines to a file descriptor from a thread of its own, so that a slow reader of the log never slows an answer.
///
/// Lines wait in a bounded buffer; when it is full, lines are dropped and their number is written as soon as there is room.
@safe
package final class DescriptorSink: LogSink, @unchecked Sendable {
    private static let maximumBuffered = 4 << 20

    private let descriptor: CInt
    private let format: LogFormat
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var buffer: [UInt8] = []
    private var dropped = 0
    private var isWriting = false
    private var lastSecond = 0
    private var lastSecondText = ""

    /// Writes to `descriptor` for the process's life.
    package init(descriptor: CInt = STDERR_FILENO, format: LogFormat) {
        self.descriptor = descriptor
        self.format = format
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
        var thread = pthread_t()
        // Balanced on the new thread, which never ends.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let status = unsafe pthread_create(&thread, nil, writerEntry, context)
        precondition(status == 0, "cannot start the log thread: error \(status)")
        pthread_detach(thread)
    }

    /// Queues one line.
    package func write(_ line: LogLine) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        unsafe pthread_mutex_lock(mutex)
        if buffer.count > Self.maximumBuffered {
            dropped += 1
        } else {
            append(line, at: time)
        }
        unsafe pthread_cond_signal(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Waits until everything queued has been written, at most about a second.
    package func flush() {
        for _ in 0..<1_000 {
            unsafe pthread_mutex_lock(mutex)
            let isDone = buffer.isEmpty && !isWriting
            unsafe pthread_mutex_unlock(mutex)
            if isDone { return }
            usleep(1_000)
        }
    }

    private func append(_ line: LogLine, at time: timespec) {
        if time.tv_sec != lastSecond {
            lastSecond = time.tv_sec
            lastSecondText = Self.text(of: time.tv_sec)
        }
        let milliseconds = String(time.tv_nsec / 1_000_000 + 1_000).dropFirst()
        format.append(line, time: "\(lastSecondText).\(milliseconds)Z", to: &buffer)
    }

    fileprivate func writeForEver() {
        unsafe CLinux_set_thread_name("log")
        while true {
            unsafe pthread_mutex_lock(mutex)
            isWriting = false
            while buffer.isEmpty { unsafe pthread_cond_wait(condition, mutex) }
            isWriting = true
            var lines = buffer
            buffer = []
            if dropped > 0 {
                let line = LogLine(level: .warning, message: "log lines dropped", fields: [("count", .int(dropped))])
                dropped = 0
                format.append(line, time: "\(lastSecondText).000Z", to: &lines)
            }
            unsafe pthread_mutex_unlock(mutex)
            blockingWrite(lines)
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
        var parts = unsafe tm()
        unsafe gmtime_r(&second, &parts)
        func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T"
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }
}

private func writerEntry(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    unsafe Unmanaged<DescriptorSink>.fromOpaque(context).takeRetainedValue().writeForEver()
    return nil
}
