import Imaging
import Memory

/// Where a worker leaves what comes of one piece of work: in memory that both sides keep, or in a larger one that is for this work only.
///
/// How large that is the server has said before the worker has seen anything.
package struct OutputMemory: ~Copyable {
    private var kept: KeptMemory
    private let large: SharedMemory?
    /// Bytes that there is room for, beside what belongs to a picture without being its pixels.
    private let room: Int

    /// Room for `room` bytes, to be lent to a worker.
    package init(_ kept: consuming KeptMemory, room: Int) throws(SharedMemoryError) {
        self.kept = kept
        self.room = max(room, KeptMemory.count)
        large =
            room > KeptMemory.count
            ? try SharedMemory("alula large output", count: room + KeptMemory.tailCount) : nil
    }

    /// Room for `room` bytes, lent by the server.
    init(_ kept: consuming KeptMemory, large: consuming SharedMemory?, room: Int) {
        self.kept = kept
        self.large = large
        self.room = room
    }

    /// What names the memory that is kept to the kernel.
    var descriptor: CInt { kept.memory.descriptor }

    /// What the worker needs besides the memory that is kept.
    var largeDescriptor: CInt? {
        switch large {
        case .some(let memory): memory.descriptor
        case .none: nil
        }
    }

    /// What is left for the next piece of work.
    consuming func finish() -> KeptMemory { kept }

    /// Makes room for `count` bytes, valid until the next piece of work.
    ///
    /// - Throws: Also where the server has not lent as many.
    mutating func makeRoom(count: Int) throws -> PlaneMemory {
        if count <= KeptMemory.count { return try kept.room(count: count) }
        switch large {
        case .some(let memory) where count <= room: return try memory.writable(count: count)
        default: throw ImagingError.cannotDecode(detail: "\(count) bytes where its head promises at most \(room)")
        }
    }

    /// Writes `bytes` behind `count` bytes that there was room for.
    func append(_ bytes: [UInt8], behind count: Int) throws {
        guard bytes.count <= KeptMemory.tailCount else {
            throw ImagingError.cannotDecode(detail: "\(bytes.count) bytes beside the pixels")
        }
        switch large {
        case .some(let memory) where count > KeptMemory.count: try memory.append(bytes, at: count)
        default: try kept.memory.append(bytes, at: count)
        }
    }

    /// Makes sure that `count` bytes which a worker has left, and `tailCount` behind them, stay as they are: more than are kept are
    /// sealed, fewer are copied when they are asked for.
    ///
    /// - Throws: Also where there is no room for so many, somebody can still write to them, or there is more than that.
    func settle(count: Int, tailCount: Int = 0) throws(SharedMemoryError) {
        guard 1...room ~= count, 0...KeptMemory.tailCount ~= tailCount else {
            throw SharedMemoryError("more than there is room for", 0)
        }
        guard count > KeptMemory.count else { return }
        switch large {
        case .some(let memory):
            try memory.seal()
            guard try memory.allocatedByteCount() <= count + tailCount + Self.slack else {
                throw SharedMemoryError("more than was said", 0)
            }
        case .none: throw SharedMemoryError("more than there is room for", 0)
        }
    }

    /// The last of the kernel's pages, which may be large.
    private static let slack = 4 << 20

    /// The first `count` bytes of settled memory, which nobody can change from now on.
    mutating func settled(count: Int) throws(SharedMemoryError) -> SharedBytes {
        switch large {
        case .some(let memory) where count > KeptMemory.count: try memory.mapped(count: count)
        default: try kept.copied(count: count)
        }
    }

    /// The next `tailCount` bytes behind the first `count`, copied.
    func tail(_ tailCount: Int, behind count: Int) throws(SharedMemoryError) -> [UInt8] {
        let range = count..<count + tailCount
        return switch large {
        case .some(let memory) where count > KeptMemory.count: try memory.bytes(range)
        default: try kept.memory.bytes(range)
        }
    }
}
