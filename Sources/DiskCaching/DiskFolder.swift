import Glibc

/// The folder of the store, and operations on whole files there.
struct DiskFolder {
    /// Identifies files among others of the same name, as long as a process has them open.
    struct Files: Equatable {
        fileprivate let numbers: [Number?]

        fileprivate struct Number: Equatable {
            let device: UInt
            let file: UInt
        }
    }

    let path: String

    /// The folder at `path`, which may not exist yet.
    init(path: String) {
        // A slash at its end would follow a link.
        let end = path.utf8.lastIndex { $0 != UInt8(ascii: "/") }
        self.path = end.map { String(path[...$0]) } ?? path
    }

    var file: String { path + "/" + Self.fileName }

    /// Makes the folder, the folders above it and an empty file, for this user only, if they do not exist yet.
    ///
    /// If others could replace the store by a file or a link, they would decide what it serves and where it writes.
    func prepare() throws(DiskStoreError) {
        try Self.make(path)
        let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw Self.isLink(path) ? .folderIsLink : .folder(systemError: errno) }
        defer { close(folder) }
        try judge(folder)
        for suffix in Self.suffixes.dropFirst() { try judgeFile(Self.fileName + suffix, in: folder) }
        let file = unsafe openat(folder, Self.fileName, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw errno == ELOOP ? .notPlainFile(name: Self.fileName) : .folder(systemError: errno)
        }
        close(file)
        try judgeFile(Self.fileName, in: folder)
    }

    private static func make(_ path: String) throws(DiskStoreError) {
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
            throw .folder(systemError: errno)
        }
        try make(String(path[..<slash]))
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw .folder(systemError: errno) }
    }

    private static func isLink(_ path: String) -> Bool {
        let error = errno
        defer { errno = error }
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// The administrator may own it: nothing protects from that user, and containers get such folders.
    private func judge(_ folder: CInt) throws(DiskStoreError) {
        var status = stat()
        guard unsafe fstat(folder, &status) == 0 else { throw .folder(systemError: errno) }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .anothersFolder(owner: status.st_uid, user: geteuid())
        }
        guard status.st_mode & S_IWOTH == 0 else { throw .openFolder }
    }

    /// A name for a file elsewhere, by a link of either kind, is not the store's.
    private func judgeFile(_ name: String, in folder: CInt) throws(DiskStoreError) {
        var status = stat()
        guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw .folder(systemError: errno) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else { throw .notPlainFile(name: name) }
    }

    /// The file and its log as they are now.
    var files: Files { Files(numbers: ["", "-wal"].map { Self.number(of: file + $0) }) }

    /// Whether these files are still in place; one that did not exist then may have been added.
    func holds(_ known: Files) -> Bool {
        zip(known.numbers, files.numbers).allSatisfy { before, now in before == nil || before == now }
    }

    private static func number(of path: String) -> Files.Number? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return Files.Number(device: UInt(status.st_dev), file: UInt(status.st_ino))
    }

    /// Deletes the store; false when something is left.
    ///
    /// The log goes first: left behind, it would be played into the next file of the name.
    func discard() -> Bool {
        var isGone = true
        for suffix in Self.suffixes.reversed() {
            let status = unsafe unlink(file + suffix)
            if status != 0, errno != ENOENT { isGone = false }
        }
        return isGone
    }

    /// Renames a file that is not ours, and replaces an earlier one under that name.
    func setAside() {
        for suffix in Self.suffixes.reversed() {
            unsafe unlink(file + Self.aside + suffix)
            unsafe rename(file + suffix, file + Self.aside + suffix)
        }
    }

    private static let fileName = "alula-cache.sqlite"
    private static let aside = ".set-aside"
    /// The file itself and the files that SQLite keeps beside it.
    private static let suffixes = ["", "-journal", "-wal", "-shm"]
}

/// Why a store cannot be opened.
package enum DiskStoreError: Error, Equatable, CustomStringConvertible {
    /// The folder cannot be made or written; the number is the system's error.
    case folder(systemError: Int32)
    /// The folder is a link to another.
    case folderIsLink
    /// The folder belongs to another user, who could change its contents.
    case anothersFolder(owner: UInt32, user: UInt32)
    /// All users may write in the folder.
    case openFolder
    /// A file of the store is a link, or not a plain file.
    case notPlainFile(name: String)
    /// Another process has the store open.
    case inUse
    /// The file cannot be opened or written; the reason is for the log.
    case unusable(reason: String)

    /// One sentence for the operator, with advice if the remedy is not obvious.
    package var description: String {
        switch self {
        case .folder(let number):
            "the folder cannot be made or written: \(unsafe String(cString: strerror(number))) (system error \(number))"
        case .folderIsLink: "it is a link; name the folder that it leads to"
        case .anothersFolder(let owner, let user):
            "it belongs to user \(owner), who could change its contents; give it to user \(user), who runs the service, "
                + "or name a folder within it, which is made"
        case .openFolder:
            "all users may write in it; take that right away (chmod o-w), or name a folder within it, which is made"
        case .notPlainFile(let name): "\(name) in it is a link or not a plain file; remove it"
        case .inUse: "another process uses it"
        case .unusable(let reason): reason
        }
    }
}
