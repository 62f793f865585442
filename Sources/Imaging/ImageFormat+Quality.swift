extension ImageFormat {
    /// Whether a quality can be chosen: PNG and GIF are written without one.
    package var hasQuality: Bool { self != .png && self != .gif }

    /// The encoder quality where the caller names none; set so that the formats look about alike.
    package var defaultQuality: Int {
        switch self {
        case .jpeg, .webp: 80
        case .avif, .heic: 60
        case .png, .gif: 100
        }
    }
}
