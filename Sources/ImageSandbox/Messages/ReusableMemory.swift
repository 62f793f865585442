import Glibc
import Imaging
package import Memory
import Recipes

/// Memory that the server and a worker share for successive images.
///
/// Both processes keep it mapped, so the kernel need not allocate and clear pages for every image.
@safe
package struct ReusableMemory: ~Copyable {
    #if DEBUG
    // Small, so that tests exceed it with small images.
    package static let count = 4 << 20
    #else
    /// Enough for photographs with six megapixels and their coarser levels.
    package static let count = 12 << 20
    #endif
    /// The space after the pixels for other data of an image.
    static let tailCount = 2 << 20

    let memory: SharedMemory
    private let protection: CInt
    private var base: UnsafeMutableRawPointer?
    /// The number of bytes whose pages are allocated.
    private var allocatedCount = 0

    init(adopting descriptor: CInt, isWritable: Bool) {
        self.init(SharedMemory(adopting: descriptor), isWritable: isWritable)
    }

    /// Creates the memory; its name appears in `/proc`.
    ///
    /// - Parameter isWritable: Whether this process may write to it.
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

    @unsafe
    private mutating func mapped() throws(SharedMemoryError) -> UnsafeMutableRawPointer {
        if let base = unsafe base { return unsafe base }
        let mapping = unsafe try memory.map(Self.count, protection: protection, isFilled: false)
        unsafe base = mapping
        return unsafe mapping
    }

    /// Allocates pages now; the kernel would otherwise kill the process that touches one when none is left.
    private mutating func allocatePages(count: Int) throws(SharedMemoryError) {
        guard count > allocatedCount else { return }
        try memory.allocatePages(count: count)
        allocatedCount = count
    }

    mutating func releasePages() {
        memory.releasePages(count: Self.count + Self.tailCount)
        allocatedCount = 0
    }

    package mutating func write(_ bytes: SharedBytes) throws(SharedMemoryError) {
        precondition(bytes.count <= Self.count, "the memory ends before the file")
        try allocatePages(count: bytes.count)
        let base = unsafe try mapped()
        unsafe bytes.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { unsafe base.copyMemory(from: start, byteCount: bytes.count) }
        }
    }

    mutating func copied(count: Int) throws(SharedMemoryError) -> SharedBytes {
        precondition(count <= Self.count, "the memory ends before the pixels")
        try allocatePages(count: count)
        let copy: PlaneMemory
        do { copy = try PlaneMemory(count: count) } catch { throw SharedMemoryError("malloc", number: ENOMEM) }
        let base = unsafe try mapped()
        unsafe copy.bytes.copyMemory(from: UnsafeRawBufferPointer(start: base, count: count))
        return copy.finish()
    }

    /// Returns at most ``count`` bytes; they are valid until the next write.
    mutating func bytes(count: Int) throws(SharedMemoryError) -> SharedBytes {
        precondition(count <= Self.count, "the memory ends before the file")
        let base = unsafe try mapped()
        return unsafe SharedBytes(adopting: base, count: count, footprint: count, release: { _, _ in })
    }

    /// Returns at most ``count`` writable bytes; they are valid until the next use.
    mutating func writable(count: Int) throws(SharedMemoryError) -> PlaneMemory {
        precondition(count <= Self.count, "the memory ends before the pixels")
        let base = unsafe try mapped()
        return unsafe PlaneMemory(adopting: base, count: count, footprint: count, release: { _, _ in })
    }
}
