/// Commands for the server in the Redis protocol (RESP2), one after another.
struct TierCommand: Sendable {
    /// The commands as they are sent.
    private(set) var bytes: [UInt8] = []
    /// Number of replies that they will have.
    private(set) var replyCount = 0

    /// No command yet.
    init() {}

    /// One command.
    init(_ words: [UInt8]...) {
        add(words)
    }

    /// One command.
    init(words: [[UInt8]]) {
        add(words)
    }

    /// Adds a command.
    mutating func add(_ words: [UInt8]...) { add(words) }

    /// Adds a command.
    mutating func add(_ words: [[UInt8]]) {
        bytes += Self.start("*", words.count)
        for word in words {
            bytes += Self.start("$", word.count)
            bytes += word
            bytes += Self.lineEnd
        }
        replyCount += 1
    }

    /// Adds the part of `SET KEY VALUE EX SECONDS` before the value, and returns the part after it.
    mutating func addSet(_ key: [UInt8], valueLength: Int, seconds: Int) -> [UInt8] {
        bytes += Self.start("*", 5)
        for word in [Array("SET".utf8), key] { bytes += Self.start("$", word.count) + word + Self.lineEnd }
        bytes += Self.start("$", valueLength)
        replyCount += 1
        let digits = Array(String(seconds).utf8)
        return Self.lineEnd + Self.start("$", 2) + Array("EX".utf8) + Self.lineEnd
            + Self.start("$", digits.count) + digits + Self.lineEnd
    }

    private static let lineEnd = Array("\r\n".utf8)

    private static func start(_ kind: String, _ count: Int) -> [UInt8] { Array("\(kind)\(count)\r\n".utf8) }
}

extension [UInt8] {
    /// The bytes of a word of our own.
    init(word text: String) {
        self = Array(text.utf8)
    }
}
