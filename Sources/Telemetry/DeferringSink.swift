import Coordination
import Synchronization

/// Buffers log lines until ``open()``, so that a later line can be written first.
package final class DeferringSink: LogSink {
    private let sink: any LogSink
    private let buffered = Locked<[LogLine]>([])
    private let isOpen = Atomic(false)

    /// The maximum number of buffered lines; a start writes far fewer.
    private static let capacity = 1_000

    package init(_ sink: any LogSink) {
        self.sink = sink
    }

    package func write(_ line: LogLine) {
        if !isOpen.load(ordering: .acquiring), buffer(line) { return }
        sink.write(line)
    }

    /// Writes the buffered lines in order, and every later line immediately.
    package func open() {
        while true {
            let lines = buffered.withLock { lines in
                defer { lines = [] }
                if lines.isEmpty { isOpen.store(true, ordering: .releasing) }
                return lines
            }
            if lines.isEmpty { return }
            for line in lines { sink.write(line) }
        }
    }

    /// Returns true if the line was buffered, or dropped because the buffer is full; false once lines are passed on.
    private func buffer(_ line: LogLine) -> Bool {
        buffered.withLock { lines in
            guard !isOpen.load(ordering: .relaxed) else { return false }
            if lines.count < Self.capacity { lines.append(line) }
            return true
        }
    }
}
