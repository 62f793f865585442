import Coordination
import Synchronization

package final class DeferringSink: LogSink {
    private let sink: any LogSink
    private let buffered = Locked<[LogLine]>([])
    private let isOpen = Atomic(false)

    /// A start writes far fewer lines.
    private static let capacity = 1_000

    package init(_ sink: any LogSink) { self.sink = sink }

    package func write(_ line: LogLine) {
        if !isOpen.load(ordering: .acquiring), buffer(line) { return }
        sink.write(line)
    }

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

    /// Returns false once lines are passed on, and true even if the buffer is full.
    private func buffer(_ line: LogLine) -> Bool {
        buffered.withLock { lines in
            guard !isOpen.load(ordering: .relaxed) else { return false }
            if lines.count < Self.capacity { lines.append(line) }
            return true
        }
    }
}
