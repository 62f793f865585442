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
    var hasEightBits: Bool { format == VIPS_FORMAT_UCHAR }
    var interpretation: VipsInterpretation { unsafe raw.pointee.Type }
    var hasAlpha: Bool { unsafe CVipsShim_has_alpha(raw) != 0 }

    /// Creates an image of pixels, which must outlive it because they are not copied.
    ///
    /// - Parameter isWide: Whether components have 16 bits in native byte order.
    @unsafe
    static func wrapping(
        _ pixels: UnsafeRawBufferPointer, width: Int, height: Int, bands: Int, isWide: Bool = false
    ) throws(VipsError) -> VipsImage {
        try unsafe make {
            unsafe CVipsShim_from_memory(
                pixels.baseAddress, pixels.count, Int32(width), Int32(height), Int32(bands), isWide ? 1 : 0, $0)
        }
    }

    func computed() throws(VipsError) -> VipsImage { try unsafe step { unsafe CVipsShim_copy_memory($0, $1) } }

    /// Computes the pixels with 8 bits per component, on the calling thread and from top to bottom.
    func pixels(
        allocate: PlaneMemory.Allocator = { try PlaneMemory(count: $0) }, token: WorkToken
    ) throws -> SharedBytes {
        precondition(hasEightBits, "only 8-bit pixels can be computed")
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

/// An error of libvips.
///
/// All threads share libvips' error buffer, so `text` may be about another thread's image: use it only for logs. The
/// operation that threw identifies the failure.
struct VipsError: Error {
    let text: String

    static func forget() { CVipsShim_forget_errors() }

    static func reported<Result>(token: WorkToken, _ body: () throws -> Result) throws -> Result {
        forget()
        do {
            return try body()
        } catch let error as VipsError {
            try token.check()
            throw ImagingError.encodeFailed(detail: error.text)
        }
    }

    static func last() -> VipsError {
        let note = unsafe String(cString: CVipsShim_note())
        var text = note
        if let buffer = unsafe CVipsShim_copy_errors() {
            defer { unsafe g_free(buffer) }
            let lines = unsafe String(cString: buffer).split(whereSeparator: \.isNewline).map(String.init)
            text = (lines + (note.isEmpty ? [] : [note])).joined(separator: "; ")
        }
        forget()
        return VipsError(text: text.isEmpty ? "libvips gives no reason" : text)
    }
}

enum VipsLibrary {
    private static let result: Result<Void, VipsError> = CVipsShim_start() == 0 ? .success(()) : .failure(.last())

    static func start() throws(VipsError) { try result.get() }

    /// Loads libvips' modules, one of which writes JPEG XL.
    static func loadModules() { CVipsShim_load_modules() }

    /// Makes a later start of libvips end the process.
    static func forbidStart() { CVipsShim_forbid_start() }

    static func disableMachineCode() { CVipsShim_disable_machine_code() }

    static func endThread() { CVipsShim_end_thread() }

    static var version: String {
        guard (try? start()) != nil else { return "none" }
        return (CInt(0)...2).map { "\(CVipsShim_version($0))" }.joined(separator: ".")
    }

    static let neededLoaders = Set(
        ImageFormat.allCases.compactMap { format -> String? in
            if case .vips(let loader) = format.decoding.loader { loader.className } else { nil }
        }
    ).sorted()

    static var loaders: [String] {
        var names: [UnsafePointer<CChar>?] = unsafe Array(repeating: nil, count: 64)
        let count = unsafe CVipsShim_loaders(&names, Int32(names.count))
        return unsafe names.prefix(Int(count)).compactMap { unsafe $0.map { unsafe String(cString: $0) } }.sorted()
    }
}
