import CVips
import CVipsShim

/// libvips as a whole, which is started once in a process.
enum VipsLibrary {
    /// Starts libvips with only the needed loaders.
    ///
    /// - Throws: ``VipsError``.
    static func start() throws(VipsError) {
        guard CVipsShim_start() == 0 else { throw VipsError.last() }
    }

    /// Makes libvips work without generated machine code from now on.
    static func disableMachineCode() { CVipsShim_disable_machine_code() }

    /// Frees what libvips keeps for the calling thread.
    static func endThread() { vips_thread_shutdown() }

    /// The version, for example `8.14.1`.
    static var version: String { "\(vips_version(0)).\(vips_version(1)).\(vips_version(2))" }

    /// The class names of the loaders that the shim leaves on.
    static let neededLoaders = ImageFormat.allCases.compactMap { format -> String? in
        if case .vips(let loader) = format.reading.loader { loader.className } else { nil }
    }.sorted()

    /// The class names of the loaders that are on, in alphabetical order.
    static var loaders: [String] {
        var names: [UnsafePointer<CChar>?] = unsafe Array(repeating: nil, count: 64)
        let count = unsafe CVipsShim_loaders(&names, Int32(names.count))
        return unsafe names.prefix(Int(count)).compactMap { unsafe $0.map { unsafe String(cString: $0) } }.sorted()
    }
}
