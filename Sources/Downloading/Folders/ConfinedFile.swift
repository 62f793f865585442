import Coordination
import Glibc
import Memory

/// A regular file below a folder, opened segment by segment without following links.
@safe
struct ConfinedFile: ~Copyable {
    private static let pieceSize = 256 << 10

    private let descriptor: CInt
    let size: Int
    /// The time of the last modification, in seconds since 1970.
    let modifiedAt: Int

    init(root: String, segments: [String]) throws(DownloadError) {
        var folder = unsafe open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .unreachable("folder: error \(errno)") }
        defer { close(folder) }
        for segment in segments.dropLast() {
            let next = unsafe openat(folder, segment, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { throw Self.failure(errno) }
            close(folder)
            folder = next
        }
        // Nonblocking: opening a pipe would otherwise wait for a writer.
        let descriptor = unsafe openat(folder, segments.last ?? ".", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(errno) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notFound(404)
        }
        self.descriptor = descriptor
        size = Int(status.st_size)
        modifiedAt = status.st_mtim.tv_sec
    }

    deinit { close(descriptor) }

    /// - Throws: A ``DownloadError``, `CancellationError`, or the error of `receive`.
    func blockingRead(
        atMost maximumBytes: Int, token: WorkToken, _ receive: (RawSpan) throws -> Void = { _ in }
    ) throws -> SharedBytes {
        guard size <= maximumBytes else { throw DownloadError.tooLarge }
        var bytes = ByteAccumulator(reservingCapacity: size)
        var piece = [UInt8](repeating: 0, count: min(Self.pieceSize, size + 1))
        while true {
            try token.check()
            let count = try unsafe piece.withUnsafeMutableBytes { unsafe try blockingRead(into: $0) }
            if count == 0 { return bytes.finish() }
            guard bytes.count + count <= maximumBytes else { throw DownloadError.tooLarge }
            try unsafe piece.withUnsafeBytes { piece in
                let piece = unsafe UnsafeRawBufferPointer(rebasing: piece[..<count])
                try receive(unsafe piece.bytes)
                unsafe bytes.append(piece)
            }
        }
    }

    @unsafe
    private func blockingRead(into buffer: UnsafeMutableRawBufferPointer) throws(DownloadError) -> Int {
        while true {
            let count = unsafe read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw .unreachable("read: error \(errno)") }
        }
    }

    private static func failure(_ number: CInt) -> DownloadError {
        switch number {
        case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, ENXIO: .notFound(404)
        case EACCES, EPERM: .status(403)
        default: .unreachable("open: error \(number)")
        }
    }
}
