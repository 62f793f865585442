import CLinux
import Glibc
package import Memory
package import Recipes

@safe
package struct PlaneMemory: ~Copyable {
    /// Allocates memory when the size of a decoded image is known.
    package typealias Allocator = (_ count: Int) throws -> PlaneMemory

    package let count: Int
    private let footprint: Int
    private var base: UnsafeMutableRawPointer?
    private let release: SharedBytes.Release

    init() { unsafe self.init(adopting: nil, count: 0, footprint: 0, release: { _, _ in }) }

    package init(count: Int) throws(ImagingError) {
        let rounded = max(1, (count + Plane.alignment - 1) / Plane.alignment) * Plane.alignment
        guard let base = unsafe aligned_alloc(Plane.alignment, rounded) else {
            throw .outOfMemory(detail: "no memory for \(count) bytes")
        }
        unsafe self.init(
            adopting: base, count: count, footprint: CLinux_block_size(base), release: { base, _ in unsafe free(base) })
    }

    /// Takes ownership of `count` bytes aligned to ``Plane/alignment``; calls `release` exactly once.
    ///
    /// - Parameter footprint: The bytes of memory that `release` frees.
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

    @unsafe
    package var bytes: UnsafeMutableRawBufferPointer { unsafe UnsafeMutableRawBufferPointer(start: base, count: count) }

    mutating func reserve(_ count: Int) throws(ImagingError) {
        if self.count < count { self = try PlaneMemory(count: count) }
    }

    mutating func drop(above maximum: Int) { if count > maximum { self = PlaneMemory() } }

    func fill(_ plane: Plane, with sample: UInt8) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[plane.offset..<plane.offset + plane.byteCount])
            .initializeMemory(as: UInt8.self, repeating: sample)
    }

    /// Returns the bytes; the memory must not be written afterward.
    package consuming func finish() -> SharedBytes {
        let taken = unsafe base
        unsafe base = nil
        return unsafe SharedBytes(adopting: taken, count: count, footprint: footprint, release: release)
    }
}
