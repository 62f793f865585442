import CVips
import CVipsShim
import Coordination
import Memory
import Recipes

/// A reference to a libvips image, whose pixels are computed when it is written.
///
/// Used only on the thread that created it. The bytes and the token from which it was created must outlive it.
@safe
package final class VipsImage {
    typealias Raw = UnsafeMutablePointer<CVips.VipsImage>

    private let raw: Raw

    private init(owning raw: Raw) { unsafe self.raw = raw }

    deinit { unsafe CVipsShim_unref(raw) }

    static func make(_ body: (UnsafeMutablePointer<Raw?>) -> Int32) throws(VipsError) -> VipsImage {
        try VipsLibrary.start()
        var raw: Raw?
        let status = unsafe body(&raw)
        guard status == 0, let raw = unsafe raw else { throw VipsError.last() }
        return unsafe VipsImage(owning: raw)
    }

    func step(_ body: (Raw, UnsafeMutablePointer<Raw?>) -> Int32) throws(VipsError) -> VipsImage {
        try unsafe Self.make { unsafe body(raw, $0) }
    }

    func applying(_ operation: String) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_apply(operation, $0, $1) }
    }

    func withRaw<Result, Failure: Error>(_ body: (Raw) throws(Failure) -> Result) throws(Failure) -> Result {
        try unsafe body(raw)
    }

    package var width: Int { unsafe Int(raw.pointee.Xsize) }
    package var height: Int { unsafe Int(raw.pointee.Ysize) }
    var bands: Int { unsafe Int(raw.pointee.Bands) }
    var format: VipsBandFormat { unsafe raw.pointee.BandFmt }
    var has8Bits: Bool { format == VIPS_FORMAT_UCHAR }
    var interpretation: VipsInterpretation { unsafe raw.pointee.Type }
    var hasAlpha: Bool { unsafe CVipsShim_has_alpha(raw) != 0 }

    /// Creates an image of pixels, which must outlive it because they are not copied.
    ///
    /// - Parameter has16Bits: Whether components have 16 bits in native byte order.
    @unsafe
    static func wrapping(
        _ pixels: UnsafeRawBufferPointer, width: Int, height: Int, bands: Int, has16Bits: Bool = false
    ) throws(VipsError) -> VipsImage {
        try unsafe make {
            unsafe CVipsShim_from_memory(
                pixels.baseAddress, pixels.count, Int32(width), Int32(height), Int32(bands), has16Bits ? 1 : 0, $0)
        }
    }

    func computed() throws(VipsError) -> VipsImage { try unsafe step { unsafe CVipsShim_copy_memory($0, $1) } }

    /// Computes the pixels with 8 bits per component, on the calling thread and from top to bottom.
    func pixels(
        allocate: PlaneMemory.Allocator = { try PlaneMemory(count: $0) }, token: WorkToken
    ) throws -> SharedBytes {
        precondition(has8Bits, "only 8-bit pixels can be computed")
        let memory = try allocate(PixelSize(width: width, height: height).area * bands)
        let status = unsafe CVipsShim_compute(
            raw, memory.bytes.baseAddress, shouldStop, Unmanaged.passUnretained(token).toOpaque())
        guard status == 0 else {
            try token.check()
            throw VipsError.last()
        }
        return memory.finish()
    }

    /// Lets `token` stop the computation of this image and images derived from it.
    ///
    /// libvips may check it on another thread.
    func watch(_ token: WorkToken) {
        unsafe CVipsShim_watch(raw, shouldStop, Unmanaged.passUnretained(token).toOpaque())
    }
}
