/// Commands for the server in the Redis protocol (RESP2), one after another.
struct TierCommand: Sendable {
    /// The commands as they are sent.
    private(set) var bytes: [UInt8] = []
    /// Number of replies that they will have.
    private(set) var replyCount = 0

    init() {}

    init(_ words: [UInt8]...) {
        add(words)
    }

    init(words: [[UInt8]]) {
        add(words)
    }

    mutating func add(_ words: [UInt8]...) { add(words) }

    mutating func add(_ words: [[UInt8]]) {
        bytes.reserveCapacity(bytes.count + words.reduce(16) { $0 + $1.count + 16 })
        start("*", words.count)
        for word in words { write(word) }
        replyCount += 1
    }

    /// Adds the part of `SET KEY VALUE EX SECONDS` before the value, and returns the part after it.
    mutating func addSet(_ key: [UInt8], valueLength: Int, seconds: Int) -> [UInt8] {
        start("*", 5)
        write([UInt8](word: "SET"))
        write(key)
        start("$", valueLength)
        replyCount += 1
        var rest = TierCommand()
        rest.endLine()
        rest.write([UInt8](word: "EX"))
        rest.write([UInt8](word: String(seconds)))
        return rest.bytes
    }

    private mutating func write(_ word: [UInt8]) {
        start("$", word.count)
        bytes += word
        endLine()
    }

    private mutating func start(_ kind: Unicode.Scalar, _ count: Int) {
        bytes.append(UInt8(ascii: kind))
        bytes.append(contentsOf: String(count).utf8)
        endLine()
    }

    private mutating func endLine() {
        bytes.append(0x0D)
        bytes.append(0x0A)
    }
}

extension [UInt8] {
    /// The bytes of a word of our own.
    init(word text: String) {
        self = Array(text.utf8)
    }
}
