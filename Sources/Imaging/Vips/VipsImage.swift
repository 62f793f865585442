import CVips
import CVipsShim
import Coordination
import Memory

/// Owns one reference to a libvips image: a recipe for pixels that is computed when it is written somewhere.
///
/// Steps return new images and leave this one as it is. Images stay on the worker thread that made them, within one job: the
/// bytes and the token they were made from must outlive them.
@safe
package final class VipsImage {
    typealias Raw = UnsafeMutablePointer<CVips.VipsImage>

    private let raw: Raw

    /// Takes over a reference.
    private init(owning raw: Raw) {
        unsafe self.raw = raw
    }

    deinit {
        unsafe CVipsShim_unref(raw)
    }

    /// Wraps what a C function makes that answers 0 when all is well.
    static func make(_ body: (UnsafeMutablePointer<Raw?>) -> Int32) throws(VipsError) -> VipsImage {
        var raw: Raw?
        let status = unsafe body(&raw)
        guard status == 0, let raw = unsafe raw else { throw VipsError.last() }
        return unsafe VipsImage(owning: raw)
    }

    /// The image that a C function makes of this one.
    func step(_ body: (Raw, UnsafeMutablePointer<Raw?>) -> Int32) throws(VipsError) -> VipsImage {
        try unsafe Self.make { unsafe body(raw, $0) }
    }

    /// Lends the C image, for what makes no image.
    func withRaw<Result, Failure: Error>(_ body: (Raw) throws(Failure) -> Result) throws(Failure) -> Result {
        try unsafe body(raw)
    }

    /// Pixels in a row.
    package var width: Int { unsafe Int(raw.pointee.Xsize) }
    /// Rows, of all frames that are stacked.
    package var height: Int { unsafe Int(raw.pointee.Ysize) }
    var bands: Int { unsafe Int(raw.pointee.Bands) }
    var format: VipsBandFormat { unsafe raw.pointee.BandFmt }
    var hasEightBits: Bool { format == VIPS_FORMAT_UCHAR }
    var interpretation: VipsInterpretation { unsafe raw.pointee.Type }
    var hasAlpha: Bool { unsafe vips_image_hasalpha(raw) != 0 }

    /// The image of 8-bit pixels that lie row by row at `pixels`, which must outlive it: nothing is copied.
    @unsafe
    static func pixels(
        _ pixels: UnsafeRawBufferPointer, width: Int, height: Int, bands: Int
    ) throws(VipsError) -> VipsImage {
        try unsafe make {
            unsafe CVipsShim_from_memory(
                pixels.baseAddress, pixels.count, Int32(width), Int32(height), Int32(bands), $0)
        }
    }

    /// Computes all pixels into memory that is the result's own.
    func computed() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_copy_memory($0, $1) }
    }

    /// Computes all pixels, 8 bits a component, on the calling thread and from top to bottom.
    ///
    /// - Throws: ``VipsError``, or what `token` or `room` says.
    func pixels(in room: PlaneMemory.Maker = { PlaneMemory(count: $0) }, token: WorkToken) throws -> SharedBytes {
        precondition(hasEightBits, "only bytes can be handed over")
        let memory = try room(PixelSize(width: width, height: height).area * bands)
        let status = unsafe CVipsShim_compute(
            raw, memory.bytes.baseAddress, shouldStop, Unmanaged.passUnretained(token).toOpaque())
        guard status == 0 else {
            try token.check()
            throw VipsError.last()
        }
        return memory.finish()
    }

    /// Stops the computing of this image, and of what is made from it, when `token` says so; libvips asks on its own thread.
    func watch(_ token: WorkToken) {
        unsafe CVipsShim_watch(raw, shouldStop, Unmanaged.passUnretained(token).toOpaque())
    }
}
