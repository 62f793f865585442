import Coordination
import Glibc
import Memory
import Program

enum InputFile {
    struct TooLong: Error {}

    /// The maximum size of a list or record, in bytes.
    static let longestList = 4 << 30

    static func blockingSize(of path: String) throws(CommandFailure) -> Int {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw CommandFailure(system: errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw CommandFailure(system: EISDIR) }
        return Int(status.st_size)
    }

    /// - Parameter token: The token to check between pieces.
    static func blockingRead(
        _ path: String, expecting size: Int = 0, atMost maximum: Int, token: WorkToken = WorkToken()
    ) throws -> SharedBytes {
        guard path != Program.standardInput else {
            return try blockingRead(STDIN_FILENO, expecting: size, atMost: maximum, token: token)
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure(system: errno) }
        defer { close(descriptor) }
        return try blockingRead(descriptor, expecting: size, atMost: maximum, token: token)
    }

    static func blockingRead(
        _ descriptor: CInt, expecting size: Int = 0, atMost maximum: Int, token: WorkToken = WorkToken()
    ) throws -> SharedBytes {
        var bytes = ByteAccumulator(reservingCapacity: min(size, maximum))
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            try token.check()
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure(system: errno) }
            if count == 0 { return bytes.finish() }
            guard bytes.count + count <= maximum else { throw TooLong() }
            unsafe piece.withUnsafeBytes { unsafe bytes.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
