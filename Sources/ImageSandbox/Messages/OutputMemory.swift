import Imaging
import Memory
import Recipes

/// The result of one request to a worker: the reusable memory of both processes, or a larger block for this request.
///
/// The server sets its size before the worker gets the request.
package struct OutputMemory: ~Copyable {
    private var reusable: ReusableMemory
    private let large: SharedMemory?
    /// The maximum bytes of pixels or a file; delays and a profile have their own space after them.
    private let capacity: Int
    /// The number of bytes returned by the last ``allocate(count:)``.
    private(set) var allocatedCount = 0

    package init(_ reusable: consuming ReusableMemory, capacity: Int) throws(SharedMemoryError) {
        self.reusable = reusable
        self.capacity = max(capacity, ReusableMemory.count)
        large =
            capacity > ReusableMemory.count
            ? try SharedMemory("alula large output", count: capacity + ReusableMemory.tailCount) : nil
    }

    init(_ reusable: consuming ReusableMemory, large: consuming SharedMemory?, capacity: Int) {
        self.reusable = reusable
        self.large = large
        self.capacity = capacity
    }

    var descriptor: CInt { reusable.memory.descriptor }

    var largeDescriptor: CInt? {
        switch large {
        case .some(let memory): memory.descriptor
        case .none: nil
        }
    }

    consuming func finish() -> ReusableMemory { reusable }

    /// Returns memory for the result, valid until the next request.
    mutating func allocate(count: Int) throws -> PlaneMemory {
        allocatedCount = count
        if count <= ReusableMemory.count { return try reusable.writable(count: count) }
        switch large {
        case .some(let memory) where count <= capacity: return try memory.writable(count: count)
        default: throw ImagingError.cannotDecode(detail: "\(count) bytes, but the header promises at most \(capacity)")
        }
    }

    func append(_ bytes: [UInt8], after count: Int) throws {
        guard bytes.count <= ReusableMemory.tailCount else {
            throw ImagingError.cannotDecode(detail: "\(bytes.count) bytes beside the pixels")
        }
        switch large {
        case .some(let memory) where count > ReusableMemory.count: try memory.append(bytes, at: count)
        default: try reusable.memory.append(bytes, at: count)
        }
    }

    /// Prevents the worker from changing `count` bytes of its result, and `tailCount` bytes after them.
    ///
    /// Seals a larger block; the reusable memory is copied when it is read. Throws if the bytes exceed the space, the
    /// block is larger than requested, or a process can still write to it.
    func seal(count: Int, tailCount: Int = 0) throws(SharedMemoryError) {
        guard 1...capacity ~= count, 0...ReusableMemory.tailCount ~= tailCount else {
            throw SharedMemoryError("the result exceeds the memory", number: 0)
        }
        guard count > ReusableMemory.count else { return }
        switch large {
        case .some(let memory):
            try memory.seal()
            guard try memory.allocatedByteCount() <= count + tailCount + Self.slack else {
                throw SharedMemoryError("the memory exceeds the result", number: 0)
            }
        case .none: throw SharedMemoryError("the result exceeds the memory", number: 0)
        }
    }

    /// The tolerance in bytes: the kernel allocates whole pages, which may be large.
    private static let slack = 4 << 20

    /// Returns the bytes after sealing them, so that no process can change them.
    mutating func sealed(count: Int) throws(SharedMemoryError) -> SharedBytes {
        switch large {
        case .some(let memory) where count > ReusableMemory.count: try memory.mapped(count: count)
        default: try reusable.copied(count: count)
        }
    }

    func tail(_ tailCount: Int, after count: Int) throws(SharedMemoryError) -> [UInt8] {
        let range = count..<count + tailCount
        return switch large {
        case .some(let memory) where count > ReusableMemory.count: try memory.bytes(range)
        default: try reusable.memory.bytes(range)
        }
    }
}
