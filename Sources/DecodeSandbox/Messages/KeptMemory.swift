import Glibc
import Imaging
package import Memory

/// Shared memory that server and worker keep from picture to picture, each with a mapping of its beginning: pages that are there
/// already cost neither the kernel's work nor its zeros.
@safe
package struct KeptMemory: ~Copyable {
    /// Bytes that are kept, at most.
    package static let count = 4 << 20
    /// Bytes behind them, for what belongs to a picture beside its pixels.
    static let tailCount = 2 << 20

    /// All of it.
    let memory: SharedMemory
    private let protection: CInt
    private var base: UnsafeMutableRawPointer?
    /// Bytes at the beginning whose pages are known to be there.
    private var filled = 0

    /// Takes over a descriptor that came from the server.
    init(adopting descriptor: CInt, isWritable: Bool) {
        self.init(SharedMemory(adopting: descriptor), isWritable: isWritable)
    }

    /// Memory to be handed to a worker; the name is for people who look at the process.
    ///
    /// - Parameter isWritable: Whether this process writes there, or only reads.
    package init(_ name: StaticString, isWritable: Bool) throws(SharedMemoryError) {
        self.init(try SharedMemory(name, count: Self.count + Self.tailCount), isWritable: isWritable)
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
    mutating func copied(count: Int) throws(SharedMemoryError) -> SharedBytes {
        precondition(count <= Self.count, "the memory ends before the pixels")
        try fill(count)
        let copy = PlaneMemory(count: count)
        let base = unsafe try mapping()
        unsafe copy.bytes.copyMemory(from: UnsafeRawBufferPointer(start: base, count: count))
        return copy.finish()
    }

    /// The first `count` bytes, no more than are kept, to be read where they are, valid until they are written again.
    mutating func bytes(count: Int) throws(SharedMemoryError) -> SharedBytes {
        precondition(count <= Self.count, "the memory ends before the file")
        let base = unsafe try mapping()
        return unsafe SharedBytes(adopting: base, count: count, release: { _, _ in })
    }

    /// Room for `count` bytes, no more than are kept, valid until it is used again.
    mutating func room(count: Int) throws(SharedMemoryError) -> PlaneMemory {
        precondition(count <= Self.count, "the memory ends before the pixels")
        let base = unsafe try mapping()
        return unsafe PlaneMemory(adopting: base, count: count, release: { _, _ in })
    }
}
