import Glibc
import Imaging
package import Memory

/// Shared memory that server and worker keep from picture to picture, each with a mapping of its beginning: pages that are there
/// already cost neither the kernel's work nor its zeros.
@safe
package struct KeptMemory: ~Copyable {
    /// Bytes that are kept, at most.
    package static let count = 4 << 20

    /// All of it, which may be more than is kept.
    let memory: SharedMemory
    private let protection: CInt
    private var base: UnsafeMutableRawPointer?
    /// Bytes at the beginning whose pages are known to be there.
    private var filled = 0
    /// Whether it is for the next picture as well; else what is in it has it for good.
    private(set) var isKept = true

    /// Takes over a descriptor that came from the server.
    init(adopting descriptor: CInt, isWritable: Bool) {
        self.init(SharedMemory(adopting: descriptor), isWritable: isWritable)
    }

    /// Memory of which `count` bytes are always there, to be handed to a worker; the name is for people who look at the process.
    ///
    /// - Parameter isWritable: Whether this process writes there, or only reads.
    package init(_ name: StaticString, isWritable: Bool) throws(SharedMemoryError) {
        let memory = try SharedMemory(name)
        try memory.resize(to: Self.count)
        // A mapping that reaches behind the end of its memory kills who reads there.
        try memory.sealAgainstShrinking()
        self.init(memory, isWritable: isWritable)
    }

    private init(_ memory: consuming SharedMemory, isWritable: Bool) {
        self.memory = memory
        protection = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
    }

    deinit {
        if let base = unsafe base { unsafe munmap(base, Self.count) }
    }

    /// What is kept, mapped when it is first asked for.
    @unsafe
    private mutating func mapping() throws(SharedMemoryError) -> UnsafeMutableRawPointer {
        if let base = unsafe base { return unsafe base }
        let made = unsafe try memory.map(Self.count, protection, isFilled: false)
        unsafe base = made
        return unsafe made
    }

    /// Makes sure that the `byteCount` bytes which a worker has left stay as they are: more than are kept are sealed, fewer are copied
    /// when they are asked for.
    ///
    /// - Throws: Also where there are more or fewer, or somebody can still write to them.
    mutating func settle(byteCount: Int) throws(SharedMemoryError) {
        guard byteCount > Self.count else { return }
        isKept = false
        unmap()
        try memory.seal()
        guard try memory.byteCount() == byteCount else { throw SharedMemoryError("a size that is not true", 0) }
    }

    /// The first `count` bytes of settled memory, which nobody can change from now on.
    mutating func settled(count: Int) throws(SharedMemoryError) -> SharedBytes {
        try isKept ? copied(count: count) : memory.mapped(count: count)
    }

    /// Nobody can seal what somebody has mapped.
    private mutating func unmap() {
        if let base = unsafe base { unsafe munmap(base, Self.count) }
        unsafe base = nil
    }

    /// Makes sure that the first `count` bytes can be touched: where the kernel has no page to give, that ends who touches them.
    private mutating func fill(_ count: Int) throws(SharedMemoryError) {
        guard count > filled else { return }
        try memory.fill(count)
        filled = count
    }

    /// Puts `bytes`, no more than are kept, at the beginning.
    package mutating func write(_ bytes: SharedBytes) throws(SharedMemoryError) {
        precondition(bytes.count <= Self.count, "the memory ends before the file")
        try fill(bytes.count)
        let base = unsafe try mapping()
        unsafe bytes.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { unsafe base.copyMemory(from: start, byteCount: bytes.count) }
        }
    }

    /// The first `count` bytes, no more than are kept, in memory of this process's own.
    private mutating func copied(count: Int) throws(SharedMemoryError) -> SharedBytes {
        precondition(count <= Self.count, "the memory ends before the pixels")
        try fill(count)
        let copy = PlaneMemory(count: count)
        let base = unsafe try mapping()
        unsafe copy.bytes.copyMemory(from: UnsafeRawBufferPointer(start: base, count: count))
        return copy.finish()
    }

    /// The first `count` bytes, to be read where they are, valid until they are written again.
    mutating func bytes(count: Int) throws(SharedMemoryError) -> SharedBytes {
        guard count <= Self.count else { return try memory.mapped(count: count) }
        let base = unsafe try mapping()
        return unsafe SharedBytes(adopting: base, count: count, release: { _, _ in })
    }

    /// Room for `count` bytes, valid until it is used again.
    mutating func room(count: Int) throws(SharedMemoryError) -> PlaneMemory {
        guard count <= Self.count else {
            unmap()
            try memory.resize(to: count)
            return try memory.writable(count: count)
        }
        let base = unsafe try mapping()
        return unsafe PlaneMemory(adopting: base, count: count, release: { _, _ in })
    }
}
