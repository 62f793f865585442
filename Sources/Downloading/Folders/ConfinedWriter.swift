import Coordination
import Glibc
import Memory

/// Writes files atomically below a folder, without following links below it.
///
/// A file is written under a temporary name in the root, synced, and renamed. Temporary names begin with the name of a
/// lock file that the process locks while it runs: temporary files whose lock file is unlocked are leftovers.
@safe
final class ConfinedWriter: Sendable {
    private static let lockEnding = ".lock"

    private let root: String
    private let temporary: [String]
    private let name: String
    private let lock: CInt
    private let lastNumber = Locked(0)

    init(root: String, temporary: [String]) throws(DownloadError) {
        self.root = root
        self.temporary = temporary
        let folder = try Descriptor(root: root, folders: temporary, creatingWith: 0o700)
        Self.removeLeftovers(in: folder)
        name = String(UInt64.random(in: .min ... .max), radix: 16)
        lock = unsafe openat(folder.number, name + Self.lockEnding, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Self.failure(of: "lock", code: errno) }
        // Another process may lock the file between these two lines, and then deletes it.
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw .unreachable("lock: another process has it")
        }
    }

    deinit {
        if let folder = try? Descriptor(root: root, folders: temporary) {
            unsafe unlinkat(folder.number, name + Self.lockEnding, 0)
        }
        close(lock)
    }

    /// Whether the lock file still exists, so that no other process removes our temporary files.
    var isProtected: Bool {
        var status = stat()
        return unsafe fstat(lock, &status) == 0 && status.st_nlink > 0
    }

    struct Options {
        /// Whether to sync the folder entry as well as the bytes.
        let isDurable: Bool
        /// Whether to make the file and new folders unreadable for other users.
        let isPrivate: Bool
    }

    /// Writes or replaces a file, and creates missing folders.
    func blockingWrite(_ bytes: SharedBytes, at segments: [String], options: Options) throws(DownloadError) {
        let source = try Descriptor(root: root, folders: temporary)
        let target = try Descriptor(
            root: root, folders: Array(segments.dropLast()), creatingWith: options.isPrivate ? 0o700 : 0o777)
        let number = lastNumber.withLock { number in
            number += 1
            return number
        }
        let temporaryName = "\(name).\(number)"
        let file = unsafe openat(
            source.number, temporaryName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, options.isPrivate ? 0o600 : 0o666)
        guard file >= 0 else { throw Self.failure(of: "create", code: errno) }
        do throws(DownloadError) {
            defer { close(file) }
            try Self.blockingWrite(bytes, to: file)
            guard fsync(file) == 0 else { throw Self.failure(of: "fsync", code: errno) }
        } catch {
            unsafe unlinkat(source.number, temporaryName, 0)
            throw error
        }
        guard unsafe renameat(source.number, temporaryName, target.number, segments.last ?? "") == 0 else {
            let error = errno
            unsafe unlinkat(source.number, temporaryName, 0)
            throw Self.failure(of: "rename", code: error)
        }
        if options.isDurable, fsync(target.number) != 0 { throw Self.failure(of: "fsync", code: errno) }
    }

    static func blockingNames(in folders: [String], root: String) throws(DownloadError) -> [String] {
        do throws(DownloadError) {
            return try Descriptor(root: root, folders: folders).names.filter { !$0.hasPrefix(".") }
        } catch {
            // A missing root is an error.
            _ = try Descriptor(root: root, folders: [])
            return []
        }
    }

    private static func blockingWrite(_ bytes: SharedBytes, to file: CInt) throws(DownloadError) {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe write(file, bytes.baseAddress.map { unsafe $0 + offset }, bytes.count - offset)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(of: "write", code: errno)
            }
            offset += count
        }
    }

    /// Removes the temporary files of each unlocked lock file, and then the lock file.
    private static func removeLeftovers(in folder: borrowing Descriptor) {
        let names = folder.names
        for lockName in names where lockName.hasSuffix(lockEnding) {
            let lock = unsafe openat(folder.number, lockName, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
            guard lock >= 0 else { continue }
            defer { close(lock) }
            guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { continue }
            let start = lockName.dropLast(lockEnding.count) + "."
            for name in names where name.hasPrefix(start) && name != lockName {
                unsafe unlinkat(folder.number, name, 0)
            }
            unsafe unlinkat(folder.number, lockName, 0)
        }
    }

    private static func failure(of step: String, code: CInt) -> DownloadError {
        [ENOSPC, EDQUOT].contains(code) ? .fullStorage : .unreachable("\(step): error \(code)")
    }

    @safe
    private struct Descriptor: ~Copyable {
        let number: CInt

        init(root: String, folders: [String], creatingWith mode: mode_t? = nil) throws(DownloadError) {
            var folder = unsafe open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else { throw ConfinedWriter.failure(of: "folder", code: errno) }
            for name in folders {
                let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
                var next = unsafe openat(folder, name, flags)
                if next < 0, errno == ENOENT, let mode {
                    // Another process may create the folder at the same time.
                    if unsafe mkdirat(folder, name, mode) == 0 { fsync(folder) }
                    next = unsafe openat(folder, name, flags)
                }
                let error = errno
                close(folder)
                guard next >= 0 else { throw ConfinedWriter.failure(of: "folder", code: error) }
                folder = next
            }
            number = folder
        }

        deinit { close(number) }

        var names: [String] {
            let copy = dup(number)
            guard let stream = unsafe fdopendir(copy) else {
                close(copy)
                return []
            }
            defer { unsafe closedir(stream) }
            var names: [String] = []
            while let entry = unsafe readdir(stream) {
                unsafe names.append(
                    withUnsafePointer(to: &entry.pointee.d_name) {
                        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
                    })
            }
            return names
        }
    }
}
