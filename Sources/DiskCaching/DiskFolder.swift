import Glibc

struct DiskFolder {
    /// The identity of the files while a process has them open.
    struct Files: Equatable {
        fileprivate let numbers: [Number?]

        fileprivate struct Number: Equatable {
            let device: UInt
            let file: UInt
        }
    }

    private static let fileName = "alula-cache.sqlite"
    private static let aside = ".set-aside"
    /// The list of removed sources that the file may still contain; without it, any source may have been removed.
    private static let removalListSuffix = ".trusted"
    /// The maximum size of the list in bytes.
    private static let removalListBytes = 4 << 10
    /// Free space required before writing resumes after a full disk.
    private static let minimumFreeBytes: UInt = 4 << 20
    private static let suffixes = ["", "-journal", "-wal", "-shm"]

    let path: String

    init(path: String) {
        // A trailing slash would follow a link.
        let end = path.utf8.lastIndex { $0 != UInt8(ascii: "/") }
        self.path = end.map { String(path[...$0]) } ?? path
    }

    var file: String { path + "/" + Self.fileName }

    /// Creates the folder, its parents and an empty file, accessible to this user only.
    ///
    /// A user who can replace the store with a file or a link controls the responses and the files that it overwrites.
    func prepare() throws(DiskStoreError) {
        try Self.create(path)
        let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw Self.isLink(path) ? .folderIsLink : Self.failure(errno) }
        defer { close(folder) }
        try checkOwner(of: folder)
        for suffix in Self.suffixes.dropFirst() { try checkFile(Self.fileName + suffix, in: folder) }
        let file = unsafe openat(folder, Self.fileName, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw errno == ELOOP ? .notPlainFile(name: Self.fileName) : Self.failure(errno) }
        close(file)
        try checkFile(Self.fileName, in: folder)
    }

    private static func failure(_ error: CInt) -> DiskStoreError {
        error == ENOSPC || error == EDQUOT ? .full : .folder(systemError: error)
    }

    private static func create(_ path: String) throws(DiskStoreError) {
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
            throw Self.failure(errno)
        }
        try create(String(path[..<slash]))
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw Self.failure(errno) }
    }

    private static func isLink(_ path: String) -> Bool {
        let error = errno
        defer { errno = error }
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Checks owner and permissions; root may own the folder, as in containers, because root can do anything anyway.
    private func checkOwner(of folder: CInt) throws(DiskStoreError) {
        var status = stat()
        guard unsafe fstat(folder, &status) == 0 else { throw Self.failure(errno) }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .foreignFolder(owner: status.st_uid, user: geteuid())
        }
        guard status.st_mode & S_IWOTH == 0 else { throw .worldWritableFolder }
    }

    /// Rejects symbolic and hard links to files elsewhere.
    private func checkFile(_ name: String, in folder: CInt) throws(DiskStoreError) {
        var status = stat()
        guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw Self.failure(errno) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else { throw .notPlainFile(name: name) }
    }

    var files: Files { Files(numbers: ["", "-wal"].map { Self.number(of: file + $0) }) }

    func contains(_ others: Files) -> Bool {
        zip(others.numbers, files.numbers).allSatisfy { before, now in before == nil || before == now }
    }

    private static func number(of path: String) -> Files.Number? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return Files.Number(device: UInt(status.st_dev), file: UInt(status.st_ino))
    }

    var hasRemovalList: Bool { unsafe access(file + Self.removalListSuffix, F_OK) == 0 }

    var removals: [[UInt8]] {
        var bytes = [UInt8](repeating: 0, count: Self.removalListBytes)
        let file = unsafe open(file + Self.removalListSuffix, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        return stride(from: 0, to: max(0, count), by: Checksum.length).map { offset in
            Array(bytes[offset..<offset + Checksum.length])
        }.filter { $0.contains { $0 != 0 } }
    }

    /// Writes the list of removals that the database does not contain yet.
    ///
    /// Even a full disk allows overwriting bytes and deleting files; without the list, all entries count as removed.
    func record(removals: [[UInt8]]) {
        let bytes = Array(removals.joined())
        let file = unsafe open(file + Self.removalListSuffix, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        let all = bytes + [UInt8](repeating: 0, count: max(0, Self.removalListBytes - bytes.count))
        let count = unsafe all.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        if file >= 0 { close(file) }
        if count != Self.removalListBytes { discardRemovalList() }
    }

    private func discardRemovalList() { _ = unsafe unlink(file + Self.removalListSuffix) }

    var hasFreeSpace: Bool {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return true }
        return UInt(status.f_bavail) * UInt(status.f_frsize) >= Self.minimumFreeBytes
    }

    /// Deletes the files; returns false if one is left.
    ///
    /// The log is deleted first; otherwise it would be replayed into the next file of the same name.
    func discard() -> Bool {
        var isGone = true
        discardRemovalList()
        for suffix in Self.suffixes.reversed() {
            let status = unsafe unlink(file + suffix)
            if status != 0, errno != ENOENT { isGone = false }
        }
        return isGone
    }

    func setAside() {
        for suffix in Self.suffixes.reversed() {
            unsafe unlink(file + Self.aside + suffix)
            unsafe rename(file + suffix, file + Self.aside + suffix)
        }
    }
}
