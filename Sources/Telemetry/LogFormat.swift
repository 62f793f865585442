import JSON
import Text

package enum LogFormat: String, Sendable, CaseIterable {
    case json
    case text
    /// Text for systemd's journal, which adds the time; a priority of sd-daemon(3) begins the line.
    case journal

    /// In bytes; longer values are truncated.
    static let maximumFieldLength = 2_048

    func append(_ line: LogLine, time: String, to buffer: inout [UInt8]) {
        switch self {
        case .json:
            buffer.append(contentsOf: "{\"time\":\"\(time)\",\"level\":\"\(line.level.rawValue)\",\"message\":".utf8)
            JSONText.appendString(line.message, to: &buffer)
            for (name, value) in line.fields {
                buffer.append(UInt8(ascii: ","))
                JSONText.appendString(name, to: &buffer)
                buffer.append(UInt8(ascii: ":"))
                appendJSON(value, to: &buffer)
            }
            buffer.append(contentsOf: "}\n".utf8)
        case .text, .journal:
            let start = self == .text ? "\(time) \(line.level.rawValue) " : "<\(line.level.priority)>"
            buffer.append(contentsOf: (start + line.message).utf8)
            for (name, value) in line.fields {
                buffer.append(contentsOf: " \(name)=".utf8)
                if case .string(let text) = value, !text.utf8.allSatisfy(Self.isPlain) {
                    JSONText.appendString(text, limit: Self.maximumFieldLength, to: &buffer)
                } else {
                    appendPlain(value, to: &buffer)
                }
            }
            buffer.append(UInt8(ascii: "\n"))
        }
    }

    private func appendJSON(_ value: Logger.MetadataValue, to buffer: inout [UInt8]) {
        if case .string(let text) = value {
            JSONText.appendString(text, limit: Self.maximumFieldLength, to: &buffer)
        } else {
            appendPlain(value, to: &buffer)
        }
    }

    private func appendPlain(_ value: Logger.MetadataValue, to buffer: inout [UInt8]) {
        switch value {
        case .string(let text): buffer.append(contentsOf: text.utf8.prefix(Self.maximumFieldLength))
        case .int(let number): buffer.append(contentsOf: String(number).utf8)
        case .double(let number): buffer.append(contentsOf: (number.isFinite ? "\(number)" : "null").utf8)
        case .bool(let flag): buffer.append(contentsOf: (flag ? "true" : "false").utf8)
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isVisibleASCII && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "=")
            && byte != UInt8(ascii: "\\")
    }
}

extension Logger.Level {
    /// The priority of syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }
}
