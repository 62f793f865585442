import Coordination
import Crypto
import Glibc
import Memory
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Records each finished result in a folder, in a line that is written before the result gets its name.
///
/// A result counts as finished if source, options and version are the same, and neither the result nor the source's
/// file has changed since. The last line for a name counts; a line truncated by a crash is skipped.
final class BatchRecord: Sendable {
    /// The digest of a source and of the options for its result.
    struct Key: Hashable, Sendable {
        let digest: String
    }

    private struct Entry {
        let key: Key
        let stamp: ResultFile.Stamp
    }

    private struct State {
        /// Entries by the names of results.
        var entries: [ExactText: Entry] = [:]
        var names: [Key: [String]] = [:]
        var endsInPartialLine = false
        /// The texts of requests, cached because writing them takes much of the time of a small render.
        var requests: [Request: String] = [:]
    }

    static let name = ".alula-batch"

    private let folder: String
    private let options: String
    private let descriptor: CInt
    private let state: Locked<State>

    /// - Parameter options: A text that is equal for runs with the same results.
    init(in folder: String, options: String) throws(CommandFailure) {
        self.folder = folder
        self.options = options
        let path = FilePath.joined(folder, with: Self.name)
        // Do not follow a link, which could point to another file, or block on a pipe without a reader.
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            let failure = CommandFailure(system: errno)
            throw CommandFailure(code: failure.code, reason: "\(path): \(failure.reason)")
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw CommandFailure(code: "file_error", reason: "\(path): not a regular file")
        }
        state = Locked(State())
        // If the record is unreadable, all results are rendered again.
        let text = String(
            decoding: (try? InputFile.blockingRead(descriptor, atMost: InputFile.longestList).array) ?? [],
            as: UTF8.self)
        state.withLock { state in
            for line in text.utf8.split(separator: UInt8(ascii: "\n")) { Self.read(Substring(line), into: &state) }
            state.endsInPartialLine = text.utf8.last.map { $0 != UInt8(ascii: "\n") } ?? false
        }
    }

    deinit { close(descriptor) }

    func key(_ source: CommandSource, rendition: Rendition) -> Key {
        // A number is not a name, so it is left out.
        let name = Int(rendition.name) == nil ? rendition.name : ""
        let request = state.withLock { state in
            let text = state.requests[rendition.request] ?? "\(rendition.request)"
            state.requests[rendition.request] = text
            return text
        }
        var text = "\(options) \(name) \(request)\n\(source.text)"
        if case .file(let path) = source {
            var status = stat()
            if unsafe stat(path, &status) == 0 {
                text += "\n\(status.st_size) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec)"
            }
        }
        return Key(digest: String(SHA256.hash(text).hexadecimal.prefix(32)))
    }

    /// Returns the name of a finished result; nil if it was returned before, is missing, or its file has changed.
    func takeFinished(_ key: Key) -> String? {
        state.withLock { state in
            while let name = state.names[key]?.first {
                state.names[key]?.removeFirst()
                guard let entry = state.entries[ExactText(name)], entry.key == key,
                    entry.stamp == ResultFile.Stamp(of: FilePath.joined(folder, with: name))
                else { continue }
                return name
            }
            return nil
        }
    }

    func blockingAdd(_ key: Key, name: String, stamp: ResultFile.Stamp) throws(CommandFailure) {
        // Such a name cannot be read back; its result is rendered again.
        guard !name.utf8.contains(UInt8(ascii: "\n")) else { return }
        let line = "\(key.digest)\t\(stamp.size)\t\(stamp.changedAt)\t\(name)\n"
        try state.withLock { state throws(CommandFailure) in
            let text = state.endsInPartialLine ? "\n" + line : line
            state.endsInPartialLine = true
            try ResultFile.blockingWrite(SharedBytes(text.utf8), to: descriptor)
            state.endsInPartialLine = false
            Self.keep(Entry(key: key, stamp: stamp), named: name, in: &state)
        }
    }

    private static func read(_ line: Substring, into state: inout State) {
        let fields = line.utf8.split(separator: UInt8(ascii: "\t"), maxSplits: 3, omittingEmptySubsequences: false)
        guard fields.count == 4, let size = Int(Substring(fields[1])), let changedAt = Int(Substring(fields[2])) else {
            return
        }
        let key = Key(digest: String(Substring(fields[0])))
        keep(
            Entry(key: key, stamp: ResultFile.Stamp(size: size, changedAt: changedAt)),
            named: String(Substring(fields[3])), in: &state)
    }

    private static func keep(_ entry: Entry, named name: String, in state: inout State) {
        state.entries[ExactText(name)] = entry
        let isKnown = state.names[entry.key]?.contains { ExactText($0) == ExactText(name) } ?? false
        if !isKnown { state.names[entry.key, default: []].append(name) }
    }
}
