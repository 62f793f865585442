public import Foundation

/// A bounded cache of files in a folder, from which the least recently used files are removed first.
///
/// Files survive the end of the program. Disk errors only cause misses. Only one cache at a time may use a folder.
public final class ThumbnailDiskCache: ThumbnailCaching {
    /// The first line of a file in the cache, as JSON; the image follows.
    private struct Head: Codable {
        let url: URL
        let mediaType: String
        let entityTag: String?
        let expires: Date
        /// The size of the image; detects truncated files.
        let bytes: Int
    }

    /// The folder of the files.
    public let directory: URL
    private let capacity: Int
    /// The files by name with their sizes; nil until the folder has been read.
    private let files = Guarded<PurgingCache<String, Int>?>(nil)

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - directory: The folder of the files, which is created if needed; nil is `AlulaThumbnails` in the user's
    ///     folder for caches.
    ///   - capacity: The maximum total size of the files in bytes.
    public init(directory: URL? = nil, capacity: Int = 200 << 20) {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        self.directory =
            directory
            ?? (caches ?? FileManager.default.temporaryDirectory).appending(path: "AlulaThumbnails")
        self.capacity = capacity
    }

    /// The total size of the files in bytes.
    public var usage: Int { withFiles { $0.bytes } }

    public func value(for url: URL) -> CachedValue<Thumbnail>? {
        withFiles { files in
            let name = Self.name(of: url)
            guard files.value(for: name) != nil else { return nil }
            let file = directory.appending(path: name)
            guard let data = try? Data(contentsOf: file), let cached = Self.decoded(data, for: url) else {
                remove(name, from: &files)
                return nil
            }
            // The order of use survives the end of the program.
            try? FileManager.default.setAttributes([.modificationDate: Date.now], ofItemAtPath: file.path)
            return cached
        }
    }

    public func store(_ value: CachedValue<Thumbnail>, for url: URL) {
        guard let data = Self.encoded(value, for: url) else { return }
        withFiles { files in
            let name = Self.name(of: url)
            guard insert(name, bytes: data.count, into: &files) else { return }
            do {
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
                try data.write(to: directory.appending(path: name), options: .atomic)
            } catch {
                remove(name, from: &files)
            }
        }
    }

    public func removeValue(for url: URL) { withFiles { remove(Self.name(of: url), from: &$0) } }

    public func removeAll() {
        withFiles { files in
            files.removeAll()
            for file in contents() { removeFile(file.name) }
        }
    }

    private func withFiles<Result>(_ body: (inout PurgingCache<String, Int>) -> Result) -> Result {
        files.withLock { files in
            var opened = files ?? readFolder()
            defer { files = opened }
            // Without a second reference, a change would copy all entries.
            files = nil
            return body(&opened)
        }
    }

    /// Reads the folder, with the file used last at the end.
    private func readFolder() -> PurgingCache<String, Int> {
        var files = PurgingCache<String, Int>(capacity: capacity, preferred: capacity / 10 * 9)
        for file in contents().sorted(by: { $0.used < $1.used }) {
            _ = insert(file.name, bytes: file.bytes, into: &files)
        }
        return files
    }

    /// Counts a file, and evicts files above the capacity; false if it is one of them.
    private func insert(_ name: String, bytes: Int, into files: inout PurgingCache<String, Int>) -> Bool {
        for evicted in files.insert(bytes, for: name, bytes: bytes) { removeFile(evicted) }
        let isStored = files.value(for: name) != nil
        if !isStored { removeFile(name) }
        return isStored
    }

    private func contents() -> [(name: String, bytes: Int, used: Date)] {
        let keys: Set<URLResourceKey> = [.fileSizeKey, .contentModificationDateKey]
        let urls = try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: Array(keys))
        return (urls ?? []).filter { $0.pathExtension == "thumbnail" }.compactMap { url in
            guard let values = try? url.resourceValues(forKeys: keys), let bytes = values.fileSize else { return nil }
            return (url.lastPathComponent, bytes, values.contentModificationDate ?? .distantPast)
        }
    }

    private func remove(_ name: String, from files: inout PurgingCache<String, Int>) {
        files.remove(name)
        removeFile(name)
    }

    private func removeFile(_ name: String) {
        try? FileManager.default.removeItem(at: directory.appending(path: name))
    }

    private static func name(of url: URL) -> String {
        SHA256.hash(Data(url.absoluteString.utf8)).hexadecimal + ".thumbnail"
    }

    private static func encoded(_ cached: CachedValue<Thumbnail>, for url: URL) -> Data? {
        let thumbnail = cached.value
        let head = Head(
            url: url, mediaType: thumbnail.mediaType, entityTag: thumbnail.entityTag, expires: cached.expires,
            bytes: thumbnail.data.count)
        return (try? JSONEncoder().encode(head)).map { $0 + Data("\n".utf8) + thumbnail.data }
    }

    private static func decoded(_ data: Data, for url: URL) -> CachedValue<Thumbnail>? {
        guard let end = data.firstIndex(of: UInt8(ascii: "\n")),
            let head = try? JSONDecoder().decode(Head.self, from: data[..<end]),
            head.url == url, head.bytes == data.count - end - 1
        else { return nil }
        let thumbnail = Thumbnail(data: Data(data[(end + 1)...]), mediaType: head.mediaType, entityTag: head.entityTag)
        return CachedValue(thumbnail, expires: head.expires)
    }
}
