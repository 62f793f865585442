import CPlanarShim
import Glibc
import Memory

/// Memory that planes are written into, before it is shared or used again.
@safe
struct PlaneMemory: ~Copyable {
    /// Room in bytes.
    let count: Int
    private var base: UnsafeMutableRawPointer?

    /// Room for `count` bytes, whose contents mean nothing yet.
    init(count: Int) {
        let rounded = max(1, (count + Plane.alignment - 1) / Plane.alignment) * Plane.alignment
        guard let base = unsafe aligned_alloc(Plane.alignment, rounded) else {
            fatalError("out of memory for \(count) bytes")
        }
        unsafe self.base = unsafe base
        self.count = count
    }

    deinit {
        unsafe free(base)
    }

    /// Lends the bytes.
    @unsafe
    var bytes: UnsafeMutableRawBufferPointer { unsafe UnsafeMutableRawBufferPointer(start: base, count: count) }

    /// Makes room for `count` bytes; what was there is lost where there was not enough.
    mutating func reserve(_ count: Int) {
        if self.count < count { self = PlaneMemory(count: count) }
    }

    /// Gives the memory back if it is more than `most` bytes.
    mutating func drop(above most: Int) {
        if count > most { self = PlaneMemory(count: 0) }
    }

    /// Gives all samples of a plane the same value.
    func fill(_ plane: Plane, with sample: UInt8) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[plane.offset..<plane.offset + plane.byteCount])
            .initializeMemory(as: UInt8.self, repeating: sample)
    }

    /// Hands the memory over; nothing is written any more.
    consuming func finish() -> SharedBytes {
        let taken = unsafe base
        unsafe base = nil
        return unsafe SharedBytes(adopting: taken, count: count, release: { base, _ in unsafe free(base) })
    }
}

extension CPlanarShimPlanes {
    /// Planes that lie in these bytes; C reads them, or fills them where the caller owns them alone.
    @unsafe
    init(_ planes: [Plane], in bytes: UnsafeRawBufferPointer) {
        precondition(planes.byteCount <= bytes.count, "the planes do not fit")
        let raw = unsafe planes.map { plane in
            unsafe CPlanarShimPlane(
                samples: UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.advanced(by: plane.offset)
                    .assumingMemoryBound(to: UInt8.self),
                stride: plane.stride, width: Int32(plane.size.width), height: Int32(plane.size.height))
        }
        let none = unsafe CPlanarShimPlane()
        unsafe self.init(
            planes: (raw[0], raw.count > 1 ? raw[1] : none, raw.count > 2 ? raw[2] : none), count: Int32(raw.count))
    }
}
