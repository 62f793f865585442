import Coordination
package import Telemetry

/// Collects log lines.
package final class RecordingSink: LogSink {
    private let state = Locked<[LogLine]>([])

    package init() {}

    package var lines: [LogLine] { state.withLock { $0 } }

    package func write(_ line: LogLine) { state.withLock { $0.append(line) } }
}

extension LogLine {
    package subscript(name: String) -> Logger.MetadataValue? { fields.first { $0.0 == name }?.1 }
}
