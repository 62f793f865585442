package import Glibc
package import Imaging

/// A fixed-size message from a worker; the server checks every number in it.
package enum WorkerResponse: Hashable, Sendable {
    case ready(Protections)
    /// The worker cannot start; the text is for logs.
    case notStarted(String)
    /// The pixels are in the output memory, followed by delays and the profile.
    case decoded(ClaimedImage)
    /// A file of this many bytes is in the output memory.
    case encoded(byteCount: Int)
    /// The image is damaged or cannot be encoded; the text is for logs.
    case failed(String)
    /// The image failed, and good images in this process may fail from now on; the text is for logs.
    case spent(String)
    /// The machine is short of memory; the image is not at fault.
    case outOfMemory
    /// The result of a ``ForbiddenAction``: 0 if it succeeded, otherwise the error number.
    case attempted(CInt)
    /// The message carries the descriptor by which the kernel reports this worker's system calls.
    case supervised
    case prepared
    /// A template has made a copy with this process ID; negative if it failed.
    case copied(pid_t)

    /// An image as described by a worker, not yet checked.
    package struct ClaimedImage: Hashable, Sendable {
        /// The image without its delays and profile, which follow the pixels.
        package var description: DecodedDescription
        /// The size of the pixels in bytes.
        package var pixelCount: Int
        /// The number of delays, four bytes each.
        package var delayCount: Int
        /// The size of the color profile in bytes.
        package var profileCount: Int

        package var tailCount: Int { 4 * delayCount + profileCount }
    }

    package static let byteCount = 256
    fileprivate static let longestText = 200

    private enum Kind: UInt8 {
        case ready = 1
        case notStarted, decoded, encoded, failed, outOfMemory, attempted, supervised, prepared, copied, spent
    }

    package var message: [UInt8] {
        var writer = MessageWriter(count: Self.byteCount)
        switch self {
        case .ready(let protections):
            writer.put(Kind.ready.rawValue)
            writer.put(protections)
        case .notStarted(let text):
            writer.put(Kind.notStarted.rawValue)
            writer.put(text)
        case .decoded(let image):
            writer.put(Kind.decoded.rawValue)
            writer.put(image)
        case .encoded(let byteCount):
            writer.put(Kind.encoded.rawValue)
            writer.put(UInt64(byteCount))
        case .failed(let text):
            writer.put(Kind.failed.rawValue)
            writer.put(text)
        case .spent(let text):
            writer.put(Kind.spent.rawValue)
            writer.put(text)
        case .outOfMemory: writer.put(Kind.outOfMemory.rawValue)
        case .attempted(let error):
            writer.put(Kind.attempted.rawValue)
            writer.put(error)
        case .supervised: writer.put(Kind.supervised.rawValue)
        case .prepared: writer.put(Kind.prepared.rawValue)
        case .copied(let process):
            writer.put(Kind.copied.rawValue)
            writer.put(process)
        }
        return writer.finish()
    }

    /// Parses an answer; nil if it is invalid.
    package init?(_ message: [UInt8]) {
        var reader = MessageReader(message)
        guard message.count == Self.byteCount, let kind = reader.number(UInt8.self).flatMap(Kind.init) else {
            return nil
        }
        let answer: WorkerResponse? =
            switch kind {
            case .ready: reader.protections().map { .ready($0) }
            case .notStarted: reader.text().map { .notStarted($0) }
            case .decoded: reader.claimedImage().map { .decoded($0) }
            case .encoded: reader.byteCount().map { .encoded(byteCount: $0) }
            case .failed: reader.text().map { .failed($0) }
            case .spent: reader.text().map { .spent($0) }
            case .outOfMemory: .outOfMemory
            case .attempted: reader.number(CInt.self).map { .attempted($0) }
            case .supervised: .supervised
            case .prepared: .prepared
            case .copied: reader.number(pid_t.self).map { .copied($0) }
            }
        guard let answer else { return nil }
        self = answer
    }
}

extension MessageWriter {
    fileprivate mutating func put(_ text: String) {
        let bytes = Array(text.utf8.prefix(WorkerResponse.longestText))
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

    fileprivate mutating func put(_ image: WorkerResponse.ClaimedImage) {
        put(image.description)
        put(UInt64(image.pixelCount))
        put(UInt32(image.delayCount))
        put(UInt32(image.profileCount))
    }
}

extension MessageReader {
    /// Reads printable ASCII text; all other bytes become question marks, so that the text cannot forge log lines.
    fileprivate mutating func text() -> String? {
        guard let count = number(UInt8.self), count <= WorkerResponse.longestText, let bytes = bytes(Int(count)) else {
            return nil
        }
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

    fileprivate mutating func claimedImage() -> WorkerResponse.ClaimedImage? {
        guard let description = description(), let pixelCount = byteCount(), let delayCount = size(),
            let profileCount = size()
        else { return nil }
        return WorkerResponse.ClaimedImage(
            description: description, pixelCount: pixelCount, delayCount: delayCount, profileCount: profileCount)
    }

    /// Reads a byte count that a machine could have.
    fileprivate mutating func byteCount() -> Int? {
        number(UInt64.self).flatMap { Int(exactly: $0) }.flatMap { $0 < 1 << 48 ? $0 : nil }
    }
}
