import Glibc
import Memory

/// A result file, which appears atomically with all of its bytes.
///
/// The bytes are written to an unnamed file, which vanishes if the process ends; it gets its name when all bytes are
/// written. On file systems without unnamed files, it has a temporary name.
@safe
struct ResultFile: ~Copyable {
    /// Distinguishes a file from later files with the same name.
    struct Stamp: Equatable, Sendable {
        let size: Int
        /// The time in nanoseconds since 1970.
        let changedAt: Int

        init?(of path: String) {
            var status = stat()
            guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            self.init(status)
        }

        fileprivate init(_ status: stat) {
            size = Int(status.st_size)
            let seconds = Int(status.st_mtim.tv_sec) &* 1_000_000_000
            changedAt = seconds &+ Int(status.st_mtim.tv_nsec)
        }

        init(size: Int, changedAt: Int) {
            self.size = size
            self.changedAt = changedAt
        }
    }

    private let descriptor: CInt
    private let path: String
    private let temporaryPath: String?

    private init(at path: String, isUnnamed: Bool) throws(CommandFailure) {
        self.path = path
        let folder = FilePath.folder(of: path)
        if isUnnamed {
            temporaryPath = nil
            descriptor = unsafe open(folder, Self.unnamed | O_WRONLY | O_CLOEXEC, 0o666)
        } else {
            let name = Self.temporaryPath(beside: path)
            temporaryPath = name
            descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        }
        guard descriptor >= 0 else { throw CommandFailure(system: errno) }
    }

    deinit {
        close(descriptor)
        if let temporaryPath { unsafe unlink(temporaryPath) }
    }

    /// - Parameters:
    ///   - writesThrough: Whether the destination is a device or pipe, such as `/dev/null`, which is written directly.
    ///   - isDurable: Whether the bytes must be on disk before the file gets its name.
    ///   - willAppear: Called before the file gets its name; if it throws, the file is discarded.
    static func blockingWrite(
        _ bytes: SharedBytes, to path: String, replaces: Bool, isDurable: Bool = false, writesThrough: Bool = true,
        willAppear: (Stamp) throws(CommandFailure) -> Void = { _ in }
    ) throws(CommandFailure) {
        switch FilePath.kind(of: path) {
        case S_IFDIR?: throw CommandFailure(system: EISDIR)
        case .some(let kind) where writesThrough && [S_IFCHR, S_IFIFO].contains(kind):
            return try writeThrough(bytes, to: path)
        case .some where !replaces: throw existing
        default: break
        }
        for isUnnamed in [true, false] {
            do throws(CommandFailure) {
                let file = try ResultFile(at: path, isUnnamed: isUnnamed)
                try Self.blockingWrite(bytes, to: file.descriptor)
                if isDurable, fdatasync(file.descriptor) != 0 { throw CommandFailure(system: errno) }
                var status = stat()
                guard unsafe fstat(file.descriptor, &status) == 0 else { throw CommandFailure(system: errno) }
                try willAppear(Stamp(status))
                try file.moveIntoPlace(replaces: replaces)
                return
            } catch {
                // Some file systems do not support unnamed files.
                guard isUnnamed, error.code == "file_error" || error.code == "no_such_file",
                    FilePath.isFolder(FilePath.folder(of: path))
                else { throw error }
            }
        }
    }

    static let existing = CommandFailure(code: "exists", reason: "exists; --force replaces it")

    static func blockingWrite(_ bytes: SharedBytes, to descriptor: CInt) throws(CommandFailure) {
        let error: CInt = unsafe bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count, let base = bytes.baseAddress {
                let count = unsafe write(descriptor, base + written, bytes.count - written)
                if count < 0, errno != EINTR { return errno }
                written += max(0, count)
            }
            return 0
        }
        if error != 0 { throw CommandFailure(system: error) }
    }

    private static func writeThrough(_ bytes: SharedBytes, to path: String) throws(CommandFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure(system: errno) }
        defer { close(descriptor) }
        try blockingWrite(bytes, to: descriptor)
    }

    private func moveIntoPlace(replaces: Bool) throws(CommandFailure) {
        if let temporaryPath { return try Self.move(temporaryPath, to: path, replaces: replaces) }
        let descriptorPath = "/proc/self/fd/\(descriptor)"
        if !replaces { return try Self.link(descriptorPath, to: path) }
        let name = Self.temporaryPath(beside: path)
        try Self.link(descriptorPath, to: name)
        guard unsafe rename(name, path) == 0 else {
            let error = errno
            unsafe unlink(name)
            throw CommandFailure(system: error)
        }
    }

    private static func link(_ old: String, to new: String) throws(CommandFailure) {
        guard unsafe linkat(AT_FDCWD, old, AT_FDCWD, new, AT_SYMLINK_FOLLOW) != 0 else { return }
        throw errno == EEXIST ? existing : CommandFailure(system: errno)
    }

    private static func move(_ old: String, to new: String, replaces: Bool) throws(CommandFailure) {
        if !replaces {
            // A link fails if the name is taken; a rename does not. Some file systems have no links.
            if unsafe Glibc.link(old, new) == 0 { return }
            if errno == EEXIST || FilePath.kind(of: new) != nil { throw existing }
        }
        guard unsafe rename(old, new) == 0 else { throw CommandFailure(system: errno) }
    }

    private static func temporaryPath(beside path: String) -> String {
        let number = UInt64.random(in: .min ... .max)
        return FilePath.joined(FilePath.folder(of: path), with: ".alula-\(getpid())-\(String(number, radix: 36)).part")
    }

    /// A macro that Swift does not import.
    private static let unnamed = 0o20000000 | O_DIRECTORY
}
