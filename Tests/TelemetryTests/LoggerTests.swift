import Coordination
import Glibc
import Telemetry
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LoggerTests {
    @Test func `a line is one JSON object with everything at top level`() throws {
        let text = try logged(.json) { logger in
            logger.with(["requestId": "r1"]).info("answered", ["status": 200, "ok": .bool(true), "ms": .double(1.5)])
        }
        #expect(
            text.hasSuffix(
                "\"level\":\"info\",\"message\":\"answered\",\"requestId\":\"r1\",\"status\":200,\"ok\":true,\"ms\":1.5}\n"
            ))
        #expect(text.hasPrefix("{\"time\":\"2"))
    }

    @Test(arguments: [
        (Logger.Level.error, "<3>"), (.warning, "<4>"), (.info, "<6>"), (.debug, "<7>"),
    ])
    func `a line for the journal begins with its priority`(level: Logger.Level, priority: String) throws {
        let text = try logged(.journal) { $0.log(level: level, "answered", ["status": 200]) }
        #expect(text == "\(priority)answered status=200\n")
    }

    @Test func `lines cannot be forged with control characters or quotes`() throws {
        let hostile = "a\"}\n{\"level\":\"error\u{7f}\u{9b}\u{2028}"
        for format in LogFormat.allCases {
            let text = try logged(format) { $0.info("seen", ["url": .string(hostile)]) }
            #expect(text.filter { $0 == "\n" }.count == 1)
            #expect(text.contains("\\u000a") && text.contains("\\u007f") && text.contains("\\u009b"))
        }
    }

    @Test(arguments: [
        ("\u{202e}gnp.exe", "\\u202e"), ("a\u{2066}b", "\\u2066"), ("\u{200f}", "\\u200f"), ("\u{61c}", "\\u061c"),
        ("\u{200b}", "\\u200b"), ("\u{feff}", "\\ufeff"), ("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"),
        ("\u{2029}", "\\u2029"), ("\u{e0041}", "\\udb40\\udc41"), ("\u{1b}[2K", "\\u001b[2K"), ("\u{f8ff}", "\\uf8ff"),
    ])
    func `invisible characters are escaped in either form`(text: String, escaped: String) throws {
        for format in LogFormat.allCases {
            let line = try logged(format) { $0.info("seen", ["url": .string(text)]) }
            #expect(line.contains(escaped), "\(line)")
            #expect(line.unicodeScalars.dropLast().allSatisfy { $0.value >= 0x20 && $0.isASCII })
        }
    }

    @Test func `letters of any script and emoji are written unchanged`() throws {
        for format in LogFormat.allCases {
            let line = try logged(format) { $0.info("seen", ["url": "größe/写真/🦉"]) }
            #expect(line.contains("größe/写真/🦉"))
        }
    }

    @Test func `bytes that are not text are replaced, and truncated text stays valid`() throws {
        for format in LogFormat.allCases {
            let broken = String(decoding: [0x61, 0xed, 0xa0, 0x80, 0xff] as [UInt8], as: UTF8.self)
            #expect(try logged(format) { $0.info("seen", ["url": .string(broken)]) }.contains("a\u{fffd}"))
            let long = try logged(format) { $0.info("seen", ["url": .string(String(repeating: "🦉", count: 9_000))]) }
            #expect(!long.contains("\u{fffd}"))
        }
    }

    @Test func `long fields are truncated`() throws {
        let text = try logged(.json) { $0.info("seen", ["url": .string(String(repeating: "é", count: 9_000))]) }
        #expect(text.utf8.count < 2_300)
    }

    @Test func `lines below the level are dropped`() throws {
        #expect(try logged(.text, level: .warning) { $0.info("quiet") }.isEmpty)
        #expect(
            try logged(.text, level: .warning) { $0.error("loud", ["a": "b c"]) }.hasSuffix(" error loud a=\"b c\"\n"))
    }

    @Test func `deferred lines follow the first line`() {
        let sink = KeptLines()
        let early = DeferringSink(sink)
        let (first, others) = (Logger(level: .debug, sink: sink), Logger(level: .debug, sink: early))
        others.warning("one")
        others.warning("two")
        first.info("listening")
        early.open()
        others.info("three")
        #expect(sink.messages == ["listening", "one", "two", "three"])
    }

    private func logged(_ format: LogFormat, level: Logger.Level = .debug, _ body: (Logger) -> Void) throws -> String {
        var ends: (CInt, CInt) = (0, 0)
        try unsafe withUnsafeMutableBytes(of: &ends) { ends in
            try #require(unsafe pipe(ends.assumingMemoryBound(to: CInt.self).baseAddress) == 0)
        }
        defer {
            close(ends.0)
            close(ends.1)
        }
        let sink = DescriptorSink(descriptor: ends.1, format: format)
        body(Logger(level: level, sink: sink))
        sink.flush()
        var waiting: CInt = 0
        _ = unsafe ioctl(ends.0, UInt(FIONREAD), &waiting)
        var bytes = [UInt8](repeating: 0, count: Int(waiting))
        let count = unsafe read(ends.0, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

private final class KeptLines: LogSink {
    private let kept = Locked<[String]>([])

    var messages: [String] { kept.withLock { $0 } }

    func write(_ line: LogLine) { kept.withLock { $0.append(line.message) } }
}
