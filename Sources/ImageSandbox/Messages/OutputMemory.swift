import Imaging
import Memory

/// Memory for the result of one request to a worker process: the memory that both processes keep, or a larger block for
/// this request alone.
///
/// The server sets its size before the worker process gets the request.
package struct OutputMemory: ~Copyable {
    private var kept: KeptMemory
    private let large: SharedMemory?
    /// Bytes of pixels or of a file for which there is room; delays and a profile have room of their own behind them.
    private let room: Int

    /// Room for `room` bytes, made by the server.
    package init(_ kept: consuming KeptMemory, room: Int) throws(SharedMemoryError) {
        self.kept = kept
        self.room = max(room, KeptMemory.count)
        large =
            room > KeptMemory.count
            ? try SharedMemory("alula large output", count: room + KeptMemory.tailCount) : nil
    }

    /// Room for `room` bytes, as a worker process gets it from the server.
    init(_ kept: consuming KeptMemory, large: consuming SharedMemory?, room: Int) {
        self.kept = kept
        self.large = large
        self.room = room
    }

    /// The descriptor of the memory that both processes keep.
    var descriptor: CInt { kept.memory.descriptor }

    /// The descriptor of the larger block, if there is one.
    var largeDescriptor: CInt? {
        switch large {
        case .some(let memory): memory.descriptor
        case .none: nil
        }
    }

    /// Ends the request and returns the memory that both processes keep.
    consuming func finish() -> KeptMemory { kept }

    /// Room for `count` bytes, valid until the next request.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` if the server made less room; ``SharedMemoryError``.
    mutating func makeRoom(count: Int) throws -> PlaneMemory {
        if count <= KeptMemory.count { return try kept.room(count: count) }
        switch large {
        case .some(let memory) where count <= room: return try memory.writable(count: count)
        default: throw ImagingError.cannotDecode(detail: "\(count) bytes, but the header promises at most \(room)")
        }
    }

    /// Writes `bytes` behind the first `count` bytes.
    func append(_ bytes: [UInt8], behind count: Int) throws {
        guard bytes.count <= KeptMemory.tailCount else {
            throw ImagingError.cannotDecode(detail: "\(bytes.count) bytes beside the pixels")
        }
        switch large {
        case .some(let memory) where count > KeptMemory.count: try memory.append(bytes, at: count)
        default: try kept.memory.append(bytes, at: count)
        }
    }

    /// Makes sure that the worker process cannot change `count` bytes of its result and `tailCount` bytes behind them
    /// after they are checked.
    ///
    /// The larger block is sealed; the smaller one is copied when it is read.
    ///
    /// - Throws: ``SharedMemoryError``, also if the bytes exceed the room, a process can still write to them, or the
    ///   block holds more.
    func settle(count: Int, tailCount: Int = 0) throws(SharedMemoryError) {
        guard 1...room ~= count, 0...KeptMemory.tailCount ~= tailCount else {
            throw SharedMemoryError("more than there is room for", 0)
        }
        guard count > KeptMemory.count else { return }
        switch large {
        case .some(let memory):
            try memory.seal()
            guard try memory.allocatedByteCount() <= count + tailCount + Self.slack else {
                throw SharedMemoryError("more than announced", 0)
            }
        case .none: throw SharedMemoryError("more than there is room for", 0)
        }
    }

    /// Bytes that a block may hold besides: the kernel gives whole pages, which may be large.
    private static let slack = 4 << 20

    /// The first `count` bytes of settled memory.
    ///
    /// No process can change them.
    mutating func settled(count: Int) throws(SharedMemoryError) -> SharedBytes {
        switch large {
        case .some(let memory) where count > KeptMemory.count: try memory.mapped(count: count)
        default: try kept.copied(count: count)
        }
    }

    /// A copy of `tailCount` bytes behind the first `count`.
    func tail(_ tailCount: Int, behind count: Int) throws(SharedMemoryError) -> [UInt8] {
        let range = count..<count + tailCount
        return switch large {
        case .some(let memory) where count > KeptMemory.count: try memory.bytes(range)
        default: try kept.memory.bytes(range)
        }
    }
}
