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
    private let base: UnsafeMutableRawPointer?
    private let release: Release
    /// Bytes that count as living; none for a part of a block that counts itself.
    private let ownCount: Int
    private static let living = Atomic(0)

    /// Bytes of all blocks that the process holds at this moment, in caches, in work or in answers.
    package static var livingByteCount: Int { living.load(ordering: .relaxed) }

    /// Takes over `count` bytes at `base`; `release` is called exactly once, on the thread that drops the last reference.
    @unsafe
    package init(adopting base: UnsafeMutableRawPointer?, count: Int, release: @escaping Release) {
        precondition(count >= 0, "a block cannot have a negative size")
        unsafe self.base = base
        self.count = count
        unsafe self.release = release
        ownCount = count
        Self.living.wrappingAdd(count, ordering: .relaxed)
    }

    /// A part of a block, without a copy; it keeps the whole block alive, which counts once.
    package init(_ range: Range<Int>, of whole: SharedBytes) {
        precondition(range.lowerBound >= 0 && range.upperBound <= whole.count, "the part is not within the block")
        unsafe base = whole.base.map { unsafe $0 + range.lowerBound }
        count = range.count
        unsafe release = { _, _ in withExtendedLifetime(whole) {} }
        ownCount = 0
    }

    /// Takes over the first `count` bytes of a block of `malloc`, and gives the rest of it back.
    @unsafe
    package convenience init(fitting base: UnsafeMutableRawPointer?, count: Int) {
        // A block of no bytes would be freed. If the allocator cannot make the block smaller, it stays as it is.
        let fitting = unsafe base.flatMap { unsafe realloc($0, max(1, count)) } ?? base
        unsafe self.init(adopting: fitting, count: count, release: { base, _ in unsafe free(base) })
    }

    /// Copies `bytes`.
    package convenience init(_ bytes: some Collection<UInt8>) {
        var accumulator = ByteAccumulator(reservingCapacity: bytes.count)
        if bytes.withContiguousStorageIfAvailable({ unsafe accumulator.append(UnsafeRawBufferPointer($0)) }) == nil {
            unsafe Array(bytes).withUnsafeBytes { unsafe accumulator.append($0) }
        }
        let block = unsafe accumulator.takeStorage()
        unsafe self.init(adopting: block.base, count: block.count, release: { base, _ in unsafe free(base) })
    }

    deinit {
        if let base = unsafe base { unsafe release(base, count) }
        Self.living.wrappingSubtract(ownCount, ordering: .relaxed)
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
