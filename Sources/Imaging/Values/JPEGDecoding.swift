/// The two decoders of a JPEG's planes, for work that both can do.
package enum JPEGDecoder: String, Sendable, CaseIterable {
    /// The decoder of docs/jpeg.md, and libjpeg for the files that it leaves to libjpeg.
    case fast
    /// libjpeg for all files.
    case libjpeg

    #if LIBJPEG_ONLY
    /// The decoder of a service that benchmarks compare the real one with.
    package static let usual = JPEGDecoder.libjpeg
    #else
    /// The decoder of the service.
    package static let usual = JPEGDecoder.fast
    #endif
}

/// Which decoder made the planes of a reduced JPEG.
package enum JPEGDecoding: Hashable, Sendable {
    case fast
    /// libjpeg, because the fast decoder did not take the file.
    case fallback(Reason)

    /// Why the fast decoder did not take a file.
    package enum Reason: String, Sendable, CaseIterable {
        /// The process, the precision or the number of components.
        case process
        /// A Huffman or quantization table.
        case tables
        /// The number or order of scans, or coefficients that no scan holds.
        case scans
        /// A code that is in no table, or that cannot stand where it does.
        case code
        /// A restart marker that is missing or has the wrong number.
        case restart
        /// The data of a scan end too early, or too late.
        case end
        /// libjpeg refused or warned about what stands between two scans.
        case markers
    }
}
