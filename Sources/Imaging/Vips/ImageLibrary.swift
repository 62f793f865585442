import CVips
import CVipsShim
import Memory

/// The image library of the process: started once, before other threads.
package enum ImageLibrary {
    /// Why the library cannot be used.
    package enum StartError: Error, Hashable, Sendable {
        /// libvips itself did not start.
        case notStarted(detail: String)
        /// Loaders other than the needed ones are on.
        case loaders([String])
        /// A loader that must be off opened a file of this type.
        case opensForeign(type: String)
        /// A format that the service needs does not work.
        case lacks(ImageFormat)
    }

    private static let result: Result<Void, StartError> = Result { () throws(StartError) in try startOnce() }

    /// Starts libvips, turns off every loader but the few needed ones, and proves both; later calls answer the same.
    ///
    /// - Throws: ``StartError``; the service must not run then.
    package static func start() throws(StartError) {
        try result.get()
    }

    /// Starts libvips in a process that decodes pictures, or encodes them, and does nothing else; that all is well was proved by who
    /// started it.
    ///
    /// - Throws: ``StartError``.
    package static func startDecoding() throws(StartError) {
        guard CVipsShim_start() == 0 else { throw .notStarted(detail: VipsError.last().text) }
        guard HEIFPixels.isAvailable else { throw .lacks(.avif) }
        // No decoding step makes machine code, and the process will not be able to run any that is made.
        CVipsShim_renounce_machine_code()
    }

    /// Gives back what libvips keeps for the calling thread; to be called when a worker ends.
    package static func endThread() {
        vips_thread_shutdown()
    }

    /// The version of libvips, for example `8.14.1`.
    package static var version: String {
        "\(vips_version(0)).\(vips_version(1)).\(vips_version(2))"
    }

    private static func startOnce() throws(StartError) {
        guard CVipsShim_start() == 0 else { throw .notStarted(detail: VipsError.last().text) }
        guard VipsImage.loaders == VipsImage.neededLoaders else { throw .loaders(VipsImage.loaders) }
        for (type, head) in ForeignHeads.all where opens(head) { throw .opensForeign(type: type) }
        let pixel = [UInt8](repeating: 128, count: 8 * 8 * 3)
        let size = PixelSize(width: 8, height: 8)
        for format in ImageFormat.written {
            guard
                let image = try? ImageEncoder.encode(pixels: pixel, size: size, bands: 3, format: format, quality: nil)
            else { throw .lacks(format) }
            // libvips writes AVIF; it is libheif itself that reads it, see HEIFPixels.
            let mayOpen = format.reading.loader != .heif
            guard unsafe image.bytes.withUnsafeBytes({ unsafe opens($0) }) == mayOpen else { throw .lacks(format) }
        }
    }

    private static func opens(_ head: [UInt8]) -> Bool {
        unsafe head.withUnsafeBytes { unsafe opens($0) }
    }

    @unsafe
    private static func opens(_ bytes: UnsafeRawBufferPointer) -> Bool {
        (try? unsafe VipsImage.anyFile(bytes)) != nil
    }
}
