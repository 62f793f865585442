import Coordination
import Synchronization

/// Keeps log lines until ``open()``, so that another line can be the first.
package final class DeferringSink: LogSink {
    private let sink: any LogSink
    private let kept = Locked<[LogLine]>([])
    private let isOpen = Atomic(false)

    /// Largest number of kept lines; a start writes far fewer.
    private static let capacity = 1_000

    /// A sink that keeps lines for `sink`.
    package init(_ sink: any LogSink) {
        self.sink = sink
    }

    /// Keeps a line, or hands it on.
    package func write(_ line: LogLine) {
        if !isOpen.load(ordering: .acquiring), keep(line) { return }
        sink.write(line)
    }

    /// Writes the kept lines in order, and from now on each line at once.
    package func open() {
        while true {
            let lines = kept.withLock { lines in
                defer { lines = [] }
                if lines.isEmpty { isOpen.store(true, ordering: .releasing) }
                return lines
            }
            if lines.isEmpty { return }
            for line in lines { sink.write(line) }
        }
    }

    /// Whether the line was kept, or lost for want of room; false once lines are handed on.
    private func keep(_ line: LogLine) -> Bool {
        kept.withLock { lines in
            guard !isOpen.load(ordering: .relaxed) else { return false }
            if lines.count < Self.capacity { lines.append(line) }
            return true
        }
    }
}
