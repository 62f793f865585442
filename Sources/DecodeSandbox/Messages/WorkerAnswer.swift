package import Imaging

/// What a worker says: a message of fixed size, not one number of which is believed.
package enum WorkerAnswer: Hashable, Sendable {
    /// It has started.
    case ready(Protections)
    /// It could not be started; the text is for logs.
    case notStarted(String)
    /// The pixels are in the memory for them, and behind them what has no fixed size.
    case decoded(Picture)
    /// A file of so many bytes is in the memory for it.
    case encoded(byteCount: Int)
    /// The picture is damaged, or cannot be written; the text is for logs.
    case failed(String)
    /// The machine has no room for it, which is not the picture's fault.
    case noRoom
    /// The number of the error that an attempt ended with, 0 where it worked.
    case attempted(CInt)
    /// The descriptor that comes along is where the kernel asks about it from now on.
    case supervised

    /// A decoded picture.
    package struct Picture: Hashable, Sendable {
        /// Without its delays and profile, which lie behind the pixels.
        package var description: DecodedDescription
        /// Bytes of the pixels.
        package var pixelCount: Int
        /// Number of frames with a delay of their own, four bytes each.
        package var delayCount: Int
        /// Bytes of the colour profile.
        package var profileCount: Int

        /// Bytes behind the pixels.
        package var tailCount: Int { 4 * delayCount + profileCount }
    }

    /// Size of every answer.
    package static let byteCount = 256
    private static let longestText = 200

    private enum Kind: UInt8 {
        case ready = 1
        case notStarted, decoded, encoded, failed, noRoom, attempted, supervised
    }

    /// The message.
    package var message: [UInt8] {
        var writer = MessageWriter(count: Self.byteCount)
        switch self {
        case .ready(let protections):
            writer.put(Kind.ready.rawValue)
            writer.put(protections)
        case .notStarted(let text):
            writer.put(Kind.notStarted.rawValue)
            writer.put(text, longest: Self.longestText)
        case .decoded(let picture):
            writer.put(Kind.decoded.rawValue)
            writer.put(picture)
        case .encoded(let byteCount):
            writer.put(Kind.encoded.rawValue)
            writer.put(UInt64(byteCount))
        case .failed(let text):
            writer.put(Kind.failed.rawValue)
            writer.put(text, longest: Self.longestText)
        case .noRoom: writer.put(Kind.noRoom.rawValue)
        case .attempted(let error):
            writer.put(Kind.attempted.rawValue)
            writer.put(error)
        case .supervised: writer.put(Kind.supervised.rawValue)
        }
        return writer.finish()
    }

    /// Reads a message; nil for what is none.
    package init?(_ message: [UInt8]) {
        var reader = MessageReader(message)
        guard message.count == Self.byteCount, let kind = reader.number(UInt8.self).flatMap(Kind.init) else {
            return nil
        }
        let answer: WorkerAnswer? =
            switch kind {
            case .ready: reader.protections().map { .ready($0) }
            case .notStarted: reader.text(longest: Self.longestText).map { .notStarted($0) }
            case .decoded: reader.picture().map { .decoded($0) }
            case .encoded: reader.byteCount().map { .encoded(byteCount: $0) }
            case .failed: reader.text(longest: Self.longestText).map { .failed($0) }
            case .noRoom: .noRoom
            case .attempted: reader.number(CInt.self).map { .attempted($0) }
            case .supervised: .supervised
            }
        guard let answer else { return nil }
        self = answer
    }
}

extension MessageWriter {
    fileprivate mutating func put(_ text: String, longest: Int) {
        let bytes = Array(text.utf8.prefix(longest))
        put(UInt8(bytes.count))
        for byte in bytes { put(byte) }
    }

    fileprivate mutating func put(_ protections: Protections) {
        put(protections.hasNoNewPrivileges)
        put(protections.hasSystemCallFilter)
        put(protections.isSupervised)
        put(protections.hasLimits)
        put(UInt8(protections.landlockVersion))
    }

    fileprivate mutating func put(_ picture: WorkerAnswer.Picture) {
        put(picture.description)
        put(UInt64(picture.pixelCount))
        put(UInt32(picture.delayCount))
        put(UInt32(picture.profileCount))
    }
}

extension MessageReader {
    /// What may stand in a log line.
    fileprivate mutating func text(longest: Int) -> String? {
        guard let count = number(UInt8.self), count <= longest, let bytes = bytes(Int(count)) else { return nil }
        return String(decoding: bytes.map { 0x20..<0x7F ~= $0 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    fileprivate mutating func protections() -> Protections? {
        guard let privileges = flag(), let filter = flag(), let isSupervised = flag(), let limits = flag(),
            let landlock = number(UInt8.self)
        else { return nil }
        return Protections(
            hasNoNewPrivileges: privileges, hasSystemCallFilter: filter, isSupervised: isSupervised, hasLimits: limits,
            landlockVersion: Int(landlock))
    }

    fileprivate mutating func picture() -> WorkerAnswer.Picture? {
        guard let description = description(), let pixelCount = byteCount(), let delayCount = size(),
            let profileCount = size()
        else { return nil }
        return WorkerAnswer.Picture(
            description: description, pixelCount: pixelCount, delayCount: delayCount, profileCount: profileCount)
    }

    /// Bytes of memory, of which no machine has as many as could be said.
    fileprivate mutating func byteCount() -> Int? {
        number(UInt64.self).flatMap { Int(exactly: $0) }.flatMap { $0 < 1 << 48 ? $0 : nil }
    }
}
