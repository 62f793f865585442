struct RedisCommand: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var replyCount = 0

    init() {}

    init(_ words: any RedisWord...) { add(words) }

    mutating func add(_ words: any RedisWord...) { add(words) }

    mutating func add(_ words: any RedisWord..., keys: [[UInt8]]) { add(words + keys) }

    mutating func add(_ words: [any RedisWord]) {
        start("*", count: words.count)
        for word in words { write(word) }
        replyCount += 1
    }

    /// Adds `SET KEY VALUE EX SECONDS` without the value; returns the bytes after it.
    mutating func addSet(_ key: [UInt8], valueLength: Int, seconds: Int) -> [UInt8] {
        start("*", count: 5)
        write("SET")
        write(key)
        start("$", count: valueLength)
        replyCount += 1
        var rest = RedisCommand()
        rest.endLine()
        rest.write("EX")
        rest.write(seconds)
        return rest.bytes
    }

    private mutating func write(_ word: some RedisWord) {
        let sent = word.sentBytes
        start("$", count: sent.count)
        bytes += sent
        endLine()
    }

    private mutating func start(_ kind: Unicode.Scalar, count: Int) {
        bytes.append(UInt8(ascii: kind))
        bytes.append(contentsOf: String(count).utf8)
        endLine()
    }

    private mutating func endLine() {
        bytes.append(0x0D)
        bytes.append(0x0A)
    }
}

protocol RedisWord {
    var sentBytes: [UInt8] { get }
}

extension [UInt8]: RedisWord {
    var sentBytes: [UInt8] { self }
}

extension String: RedisWord {
    var sentBytes: [UInt8] { Array(utf8) }
}

extension Int: RedisWord {
    var sentBytes: [UInt8] { Array(String(self).utf8) }
}
