import CPlanarShim
import Glibc
import Memory

/// Writes AVIF files from planes.
enum AVIFPlanes {
    /// Writes a still from planes, which lie in `samples`; cannot be stopped.
    ///
    /// - Parameters:
    ///   - planes: Luma, Cb and Cr; chroma at luma's size, or at half of it.
    ///   - range: Must be the full range, which is written into the file.
    ///   - quality: 1…100.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``.
    static func encode(
        _ samples: SharedBytes, planes: [Plane], range: PlaneRange, quality: Int
    ) throws(ImagingError) -> SharedBytes {
        guard range == .full, planes.count == 3, planes[1].size == planes[2].size,
            [1, 2].contains(where: { planes[1].size == planes[0].size.samples(forEach: $0) })
        else { throw .encodeFailed(detail: "planes that AVIF is not written from") }
        var base: UnsafeMutableRawPointer?
        var count = 0
        var text = [CChar](repeating: 0, count: Int(CPlanarShim_text_size))
        let effort = Int32(ImageFormat.avif.effort)
        let status = unsafe samples.withUnsafeBytes { bytes in
            var planes = unsafe CPlanarShimPlanes(planes, in: bytes)
            return unsafe CPlanarShim_write_avif(&planes, Int32(quality), effort, &base, &count, &text)
        }
        guard status == CPlanarShimDone else { throw .encodeFailed(text) }
        return unsafe SharedBytes(adopting: base, count: count, release: { base, _ in unsafe free(base) })
    }
}

extension ImagingError {
    /// The error for an encoder's message, which ends with a zero.
    static func encodeFailed(_ text: [CChar]) -> ImagingError {
        .encodeFailed(detail: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
    }
}
