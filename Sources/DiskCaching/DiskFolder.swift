import Glibc

/// The folder that the store lives in, and what happens to whole files there.
struct DiskFolder {
    /// Why the folder is of no use: the system's error.
    struct Unusable: Error {
        let systemError: CInt
    }

    /// Tells files from others of their names, for as long as somebody has them open.
    struct Files: Equatable {
        fileprivate let numbers: [Number?]

        fileprivate struct Number: Equatable {
            let device: UInt
            let file: UInt
        }
    }

    let path: String

    var file: String { path + "/alula-cache.sqlite" }

    /// Makes the folder and an empty file, for this user alone, where they are not there yet.
    func prepare() throws(Unusable) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw Unusable(systemError: errno) }
        let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Unusable(systemError: errno) }
        close(descriptor)
    }

    /// The file and its log as they stand there now.
    var files: Files { Files(numbers: ["", "-wal"].map { Self.number(of: file + $0) }) }

    /// Whether these files are still the ones that stand there; one that was not there then may have come.
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

    /// Puts a file that is not ours out of the way, in place of one that was there.
    func setAside() {
        for suffix in Self.suffixes.reversed() {
            unsafe unlink(file + Self.aside + suffix)
            unsafe rename(file + suffix, file + Self.aside + suffix)
        }
    }

    private static let aside = ".set-aside"
    /// The file itself and what SQLite keeps beside it.
    private static let suffixes = ["", "-journal", "-wal", "-shm"]
}
