package enum JPEGDecoder: String, Sendable, CaseIterable {
    case fast
    case libjpeg

    #if LIBJPEG_ONLY
    package static let preferred = JPEGDecoder.libjpeg
    #else
    package static let preferred = JPEGDecoder.fast
    #endif
}

package enum JPEGDecoding: Hashable, Sendable {
    case fast
    /// The fast decoder does not support the file.
    case fallback(Reason)

    package enum Reason: String, Sendable, CaseIterable {
        /// An unsupported process, precision or number of components.
        case process
        case tables
        /// The number or order of scans, or missing coefficients.
        case scans
        /// A code that is in no table or invalid at its position.
        case code
        /// A missing or wrong restart marker.
        case restart
        /// The data of a scan ends too early or too late.
        case end
        /// libjpeg rejected or warned about the bytes between two scans.
        case markers
    }
}
