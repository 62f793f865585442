import CLinux
import Glibc
import Synchronization

/// An immutable, reference-counted block of bytes: source files, decoded pixels and encoded results.
///
/// The memory comes from any allocator: `malloc`, a C library, or a shared mapping. Threads can share it, because no
/// code writes to it after `init`.
@safe
package final class SharedBytes: @unchecked Sendable {
    package typealias Release = @Sendable (_ base: UnsafeMutableRawPointer, _ count: Int) -> Void

    package let count: Int
    /// The size of the whole block as allocated.
    package let footprint: Int
    private let base: UnsafeMutableRawPointer?
    private let release: Release
    /// False for a slice, which does not count as allocated, because its block does.
    private let isWhole: Bool
    private static let allocated = Atomic(0)

    /// The size of all blocks of the process: in caches, in work and in responses.
    package static var allocatedByteCount: Int { allocated.load(ordering: .relaxed) }

    /// Takes ownership; calls `release` exactly once, on the thread that drops the last reference.
    ///
    /// - Parameter footprint: The memory in bytes that `release` frees.
    @unsafe
    package init(adopting base: UnsafeMutableRawPointer?, count: Int, footprint: Int, release: @escaping Release) {
        precondition(0...footprint ~= count, "a block cannot have a negative size, or more bytes than memory")
        unsafe self.base = base
        self.count = count
        self.footprint = footprint
        unsafe self.release = release
        isWhole = true
        Self.allocated.wrappingAdd(footprint, ordering: .relaxed)
    }

    /// Creates a slice, which retains the whole block and `object`.
    package init(_ range: Range<Int>, of whole: SharedBytes, holding object: (any Sendable)? = nil) {
        precondition(range.lowerBound >= 0 && range.upperBound <= whole.count, "the slice is not within the block")
        unsafe base = whole.base.map { unsafe $0 + range.lowerBound }
        count = range.count
        footprint = whole.footprint
        unsafe release = { _, _ in withExtendedLifetime((whole, object)) {} }
        isWhole = false
    }

    /// Takes ownership of a `malloc` block with `count` bytes.
    ///
    /// C libraries often allocate far more than they write, so the rest of the block is freed.
    @unsafe
    package convenience init(heap base: UnsafeMutableRawPointer?, count: Int) {
        var base = unsafe base
        // Size classes of the allocator are at most a quarter apart, small ones 16 bytes.
        if unsafe CLinux_block_size(base) > count + count / 4 + 64 {
            // `realloc` to zero bytes would free the block. If the allocator cannot shrink it, it stays as it is.
            unsafe base = realloc(base, max(1, count)) ?? base
        }
        unsafe self.init(
            adopting: base, count: count, footprint: CLinux_block_size(base), release: { base, _ in unsafe free(base) })
    }

    package convenience init(_ bytes: some Collection<UInt8>) {
        var accumulator = ByteAccumulator(reservingCapacity: bytes.count)
        if bytes.withContiguousStorageIfAvailable({ unsafe accumulator.append(UnsafeRawBufferPointer($0)) }) == nil {
            accumulator.append(Array(bytes))
        }
        self.init(accumulator.takeStorage())
    }

    convenience init(_ block: ByteAccumulator.Block) {
        guard block.isMapped else {
            unsafe self.init(heap: block.base, count: block.count)
            return
        }
        var block = block
        let size = block.trim()
        unsafe self.init(adopting: block.base, count: block.count, footprint: size) { base, _ in
            unsafe munmap(base, size)
        }
    }

    deinit {
        if let base = unsafe base { unsafe release(base, count) }
        if isWhole { Self.allocated.wrappingSubtract(footprint, ordering: .relaxed) }
    }

    package func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: base, count: count).bytes)
    }

    /// Calls `body` with the bytes, which are valid while this object lives.
    @unsafe
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: base, count: count))
    }

    package var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
