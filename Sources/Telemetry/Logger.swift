import Synchronization

/// Modeled on swift-log's `Logger`.
///
/// Messages are constant; variable data goes into the metadata. A logger is a value: ``with(_:)`` returns one with more
/// metadata.
package struct Logger: Sendable {
    package enum Level: String, Sendable, Comparable, CaseIterable {
        case debug, info, warning, error

        package static func < (left: Level, right: Level) -> Bool { left.severity < right.severity }

        private var severity: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .warning: 2
            case .error: 3
            }
        }
    }

    package typealias Metadata = KeyValuePairs<String, MetadataValue>

    package enum MetadataValue: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
        ExpressibleByStringInterpolation
    {
        case string(String)
        case int(Int)
        case double(Double)
        case bool(Bool)

        package init(stringLiteral value: String) { self = .string(value) }
        package init(integerLiteral value: Int) { self = .int(value) }

        package var text: String {
            switch self {
            case .string(let text): text
            case .int(let number): "\(number)"
            case .double(let number): "\(number)"
            case .bool(let isOn): "\(isOn)"
            }
        }
    }

    package static let silent = Logger(level: .error, sink: SilentSink())

    private let threshold: LogThreshold
    private let sink: any LogSink
    private let carried: [(String, MetadataValue)]

    package init(level: Level, sink: any LogSink) { self.init(LogThreshold(level), sink: sink) }

    package init(_ threshold: LogThreshold, sink: any LogSink) { self.init(threshold, sink: sink, carried: []) }

    private init(_ threshold: LogThreshold, sink: any LogSink, carried: [(String, MetadataValue)]) {
        self.threshold = threshold
        self.sink = sink
        self.carried = carried
    }

    package var level: Level { threshold.level }

    package func with(_ metadata: Metadata) -> Logger {
        Logger(threshold, sink: sink, carried: carried + metadata.map { ($0.key, $0.value) })
    }

    package func log(level: Level, _ message: StaticString, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(level, message, fields: metadata().map { ($0.key, $0.value) })
    }

    package func log(_ level: Level, _ message: StaticString, fields: @autoclosure () -> [(String, MetadataValue)]) {
        guard level >= self.level else { return }
        sink.write(LogLine(level: level, message: "\(message)", fields: carried + fields()))
    }

    package func debug(_ message: StaticString, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .debug, message, metadata())
    }

    package func info(_ message: StaticString, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .info, message, metadata())
    }

    /// For a failure that the service works around.
    package func warning(_ message: StaticString, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .warning, message, metadata())
    }

    /// For a failure that an operator must fix.
    package func error(_ message: StaticString, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .error, message, metadata())
    }
}

/// The lowest level that is logged; it may change while loggers use it.
package final class LogThreshold: Sendable {
    private let index: Atomic<Int>

    package init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

    package var level: Logger.Level {
        get { Logger.Level.allCases[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }
}

package struct LogLine: Sendable {
    package let level: Logger.Level
    package let message: String
    package let fields: [(String, Logger.MetadataValue)]
}

package protocol LogSink: Sendable {
    /// Called on any thread; must not block on the network.
    func write(_ line: LogLine)
}

private struct SilentSink: LogSink {
    func write(_ line: LogLine) {}
}
