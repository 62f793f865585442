import CAOMShim
import CCodedImages
import CPNG
import CPlanar
import CVipsShim
import Memory
package import Recipes

package enum ImageLibrary {
    package enum StartError: Error, Hashable, Sendable, CustomStringConvertible {
        case notStarted(detail: String)
        case loaders([String])
        /// A loader is enabled that must be disabled.
        case opensForeign(type: String)
        case lacks(ImageFormat)

        package var description: String {
            switch self {
            case .notStarted(let detail): "libvips does not start: \(detail)"
            case .loaders(let names): "libvips has loaders that must be off: \(names.joined(separator: ", "))"
            case .opensForeign(let type): "libvips opens \(type), whose loader must be off"
            case .lacks(let format):
                "the image libraries neither read nor write \(format.rawValue) as the service needs it"
            }
        }
    }

    private static let result: Result<Void, StartError> = Result { () throws(StartError) in try startOnce() }

    /// Starts libvips, disables all unneeded loaders, and tests this; later calls have the same result.
    ///
    /// The service must not run after a ``StartError``.
    package static func start() throws(StartError) { try result.get() }

    /// Starts the libraries in a worker process; the serving process has tested them with ``start()``.
    ///
    /// - Parameter formats: The formats to decode in a process that encodes nothing; nil for all.
    package static func startDecoding(_ formats: Set<ImageFormat>? = nil) throws(StartError) {
        guard isNeeded(for: formats) else { return }
        try startUntested(loadingModules: formats == nil)
        // Confined processes cannot open fonts.
        for format in ImageFormat.allCases where formats?.contains(format) != false { format.decoding.prepare() }
        // Confined processes cannot run JIT-compiled code, and decoders do not need it.
        VipsLibrary.disableMachineCode()
    }

    /// Returns whether libvips must be loaded; a process that decodes only JPEG ends if a file needs libvips.
    package static func isNeeded(for formats: Set<ImageFormat>?) -> Bool { formats != [.jpeg] }

    /// Frees libvips' caches of this thread; call it when a worker thread ends.
    package static func endThread() { VipsLibrary.endThread() }

    package static var version: String { VipsLibrary.version }

    /// Ends the loading of libraries in a worker process.
    package static func finishLoading() { VipsLibrary.forbidStart() }

    private static func startUntested(loadingModules: Bool) throws(StartError) {
        do { try VipsLibrary.start() } catch { throw .notStarted(detail: error.text) }
        if loadingModules { VipsLibrary.loadModules() }
    }

    private static func startOnce() throws(StartError) {
        try startUntested(loadingModules: true)
        guard VipsLibrary.loaders == VipsLibrary.neededLoaders else { throw .loaders(VipsLibrary.loaders) }
        for (type, file) in DisabledLoaderSamples.all where opens(file) { throw .opensForeign(type: type) }
        let pixel = [UInt8](repeating: 128, count: 8 * 8 * 3)
        let size = PixelSize(width: 8, height: 8)
        for format in ImageFormat.written {
            guard
                let image = try? ImageEncoder.encode(pixels: pixel, size: size, bands: 3, format: format, quality: nil)
            else { throw .lacks(format) }
            // The loaders of AVIF and JPEG XL are disabled, because we call these libraries directly.
            let mayOpen = if case .vips = format.decoding.loader { true } else { false }
            guard unsafe image.bytes.withUnsafeBytes({ unsafe opens($0) }) == mayOpen else { throw .lacks(format) }
        }
    }

    private static func opens(_ file: [UInt8]) -> Bool { unsafe file.withUnsafeBytes { unsafe opens($0) } }

    @unsafe
    private static func opens(_ bytes: UnsafeRawBufferPointer) -> Bool {
        (try? unsafe VipsImage.loadingAnyFormat(bytes)) != nil
    }
}

extension ImageLibrary {
    /// The versions of all libraries; other versions may produce different bytes for the same plan.
    package static var versions: String {
        var text = [CChar](repeating: 0, count: Int(CPlanar_text_size))
        unsafe CPlanar_versions(&text)
        let name = String(cText: text)
        let (av1, hevc, encoder, compressor) = unsafe (
            String(cString: CCodedImages_av1_version()), String(cString: CCodedImages_hevc_version()),
            String(cString: CAOMShim_version()), String(cString: CPNG_compressor_version())
        )
        // Loads libvips as a side effect.
        let version = version
        var others = [CChar](repeating: 0, count: Int(CVipsShim_versions_size))
        unsafe CVipsShim_versions(&others)
        return "libvips \(version), \(name), dav1d \(av1), libde265 \(hevc), libaom \(encoder), "
            + "libdeflate \(compressor), " + String(cText: others)
    }
}
