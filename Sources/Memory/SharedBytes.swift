import CLinux
import Glibc
import Synchronization

/// An immutable block of bytes with one reference count: source files, decoded pixels and encoded results live in it.
///
/// The memory comes from any allocator (malloc, a C library's own, a shared mapping) and goes back through the
/// release function given with it, when the last reference ends. Safe to share because no code writes after `init`.
@safe
package final class SharedBytes: @unchecked Sendable {
    /// Gives a block back to the allocator it came from.
    package typealias Release = @Sendable (_ base: UnsafeMutableRawPointer, _ count: Int) -> Void

    /// Size in bytes.
    package let count: Int
    /// Bytes of memory that this keeps: those of the whole block, as the allocator or the kernel gave it.
    package let footprint: Int
    private let base: UnsafeMutableRawPointer?
    private let release: Release
    /// Whether this counts as living; a part does not, because the block counts itself.
    private let isWhole: Bool
    private static let living = Atomic(0)

    /// Bytes of memory of all blocks that the process holds at this moment, in caches, in work or in answers.
    package static var livingByteCount: Int { living.load(ordering: .relaxed) }

    /// Takes over `count` bytes at `base`; `release` is called exactly once, on the thread that drops the last
    /// reference.
    ///
    /// - Parameter footprint: Bytes of the memory that `release` gives back.
    @unsafe
    package init(
        adopting base: UnsafeMutableRawPointer?, count: Int, footprint: Int, release: @escaping Release
    ) {
        precondition(0...footprint ~= count, "a block cannot have a negative size, or more bytes than memory")
        unsafe self.base = base
        self.count = count
        self.footprint = footprint
        unsafe self.release = release
        isWhole = true
        Self.living.wrappingAdd(footprint, ordering: .relaxed)
    }

    /// A part of a block, without a copy; it keeps the whole block alive, which counts once.
    package init(_ range: Range<Int>, of whole: SharedBytes) {
        precondition(range.lowerBound >= 0 && range.upperBound <= whole.count, "the part is not within the block")
        unsafe base = whole.base.map { unsafe $0 + range.lowerBound }
        count = range.count
        footprint = whole.footprint
        unsafe release = { _, _ in withExtendedLifetime(whole) {} }
        isWhole = false
    }

    /// Takes over the first `count` bytes of a block of `malloc`.
    ///
    /// A block for a C library is often far larger than the bytes that it wrote, so the rest of the block goes back.
    @unsafe
    package convenience init(heap base: UnsafeMutableRawPointer?, count: Int) {
        var base = unsafe base
        // The allocator's sizes are at most a quarter apart, small ones 16 bytes.
        if unsafe CLinux_block_size(base) > count + count / 4 + 64 {
            // A block of no bytes would be freed. If the allocator cannot make the block smaller, it stays as it is.
            unsafe base = realloc(base, max(1, count)) ?? base
        }
        unsafe self.init(
            adopting: base, count: count, footprint: CLinux_block_size(base), release: { base, _ in unsafe free(base) })
    }

    /// Copies `bytes`.
    package convenience init(_ bytes: some Collection<UInt8>) {
        var accumulator = ByteAccumulator(reservingCapacity: bytes.count)
        if bytes.withContiguousStorageIfAvailable({ unsafe accumulator.append(UnsafeRawBufferPointer($0)) }) == nil {
            accumulator.append(Array(bytes))
        }
        let block = unsafe accumulator.takeStorage()
        unsafe self.init(heap: block.base, count: block.count)
    }

    deinit {
        if let base = unsafe base { unsafe release(base, count) }
        if isWhole { Self.living.wrappingSubtract(footprint, ordering: .relaxed) }
    }

    /// Lends the bytes for the duration of `body`.
    package func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: base, count: count).bytes)
    }

    /// Lends the bytes to a C library; the pointer is valid while this object lives.
    @unsafe
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// A copy of the bytes, for tests and small texts.
    package var array: [UInt8] {
        unsafe withUnsafeBytes { unsafe Array($0) }
    }
}
