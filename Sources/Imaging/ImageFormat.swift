/// An image file format that Alula reads or writes.
package enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg, png, webp, gif, avif, heic

    /// The format's media type: `image/jpeg`.
    package var mediaType: String { "image/" + rawValue }

    /// The usual file name extension, without the dot.
    package var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// Whether a picture in this format can have transparent parts.
    package var supportsAlpha: Bool { self != .jpeg }

    /// Whether more than one frame can be written.
    package var supportsAnimation: Bool { self == .gif || self == .webp }

    /// Longest side that the format can hold, in pixels.
    package var maximumSide: Int {
        switch self {
        // The format's own limit is 65,535; libjpeg stops before it.
        case .jpeg: 65_500
        case .gif: 65_535
        case .webp: 16_383
        case .avif, .heic: 16_384
        case .png: 2_147_483_647
        }
    }
}
