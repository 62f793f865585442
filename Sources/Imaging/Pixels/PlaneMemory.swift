import CLinux
import Glibc
package import Memory

/// Memory that pixels or samples are written into, before it is shared or reused.
@safe
package struct PlaneMemory: ~Copyable {
    /// Makes the memory for the pixels of a decoded image, when the number of their bytes is known.
    package typealias Maker = (_ count: Int) throws -> PlaneMemory

    /// Size in bytes.
    package let count: Int
    private let footprint: Int
    private var base: UnsafeMutableRawPointer?
    private let release: SharedBytes.Release

    /// No memory.
    init() { unsafe self.init(adopting: nil, count: 0, footprint: 0, release: { _, _ in }) }

    /// Memory of `count` bytes on the heap, not initialized.
    ///
    /// - Throws: ``ImagingError/outOfMemory(detail:)``.
    package init(count: Int) throws(ImagingError) {
        let rounded = max(1, (count + Plane.alignment - 1) / Plane.alignment) * Plane.alignment
        guard let base = unsafe aligned_alloc(Plane.alignment, rounded) else {
            throw .outOfMemory(detail: "no memory for \(count) bytes")
        }
        unsafe self.init(
            adopting: base, count: count, footprint: CLinux_block_size(base), release: { base, _ in unsafe free(base) })
    }

    /// Takes over `count` bytes at `base`, which is a multiple of ``Plane/alignment``; `release` is called exactly
    /// once.
    ///
    /// - Parameter footprint: Bytes of the memory that `release` gives back.
    @unsafe
    package init(
        adopting base: UnsafeMutableRawPointer?, count: Int, footprint: Int, release: @escaping SharedBytes.Release
    ) {
        unsafe self.base = unsafe base
        self.count = count
        self.footprint = footprint
        unsafe self.release = release
    }

    deinit {
        if let base = unsafe base { unsafe release(base, count) }
    }

    /// All bytes, valid as long as this lives.
    @unsafe
    package var bytes: UnsafeMutableRawBufferPointer { unsafe UnsafeMutableRawBufferPointer(start: base, count: count) }

    /// Makes sure that there are `count` bytes; if there were fewer, the contents are lost.
    ///
    /// - Throws: ``ImagingError/outOfMemory(detail:)``.
    mutating func reserve(_ count: Int) throws(ImagingError) {
        if self.count < count { self = try PlaneMemory(count: count) }
    }

    /// Frees the memory if it is larger than `most` bytes.
    mutating func drop(above most: Int) {
        if count > most { self = PlaneMemory() }
    }

    /// Sets all samples of a plane to the same value.
    func fill(_ plane: Plane, with sample: UInt8) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[plane.offset..<plane.offset + plane.byteCount])
            .initializeMemory(as: UInt8.self, repeating: sample)
    }

    /// Hands the memory over; nothing may be written to it any more.
    package consuming func finish() -> SharedBytes {
        let taken = unsafe base
        unsafe base = nil
        return unsafe SharedBytes(adopting: taken, count: count, footprint: footprint, release: release)
    }
}
