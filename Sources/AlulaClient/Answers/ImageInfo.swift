/// Facts about an image, as `/info` tells them.
public struct ImageInfo: Codable, Hashable, Sendable {
    /// Facts that take more than the header of the file.
    public enum Fact: String, Hashable, Sendable, CaseIterable {
        case color, palette
        case blurHash = "blurhash"
        case thumbHash = "thumbhash"
        case exif

        static func text(_ facts: Set<Fact>) -> String {
            allCases.filter(facts.contains).map(\.rawValue).joined(separator: ",")
        }
    }

    /// A color and how much of the image has it.
    public struct Swatch: Codable, Hashable, Sendable {
        /// The color, such as `#87abd6`.
        public let color: String
        /// Its share of the visible pixels, up to 1.
        public let share: Double
    }

    /// Texts of Exif.
    public struct Exif: Codable, Hashable, Sendable {
        /// The text of this name; nil if the file has none.
        public let make, model, dateTime, copyright, artist: String?
    }

    /// The source as it was asked for; nil for an upload.
    public let url: String?
    /// The format, such as `jpeg`.
    public let format: String
    /// The media type, such as `image/jpeg`.
    public let mediaType: String
    /// Pixels of the upright image.
    public let width, height: Int
    /// The orientation as in Exif; 1 is upright.
    public let orientation: Int
    /// Frames or pages of the file.
    public let frames: Int
    /// Whether the file has an alpha channel.
    public let hasAlpha: Bool
    /// Bits of one component.
    public let bitDepth: Int
    /// Whether the file is stored in passes.
    public let progressive: Bool
    /// The space of the stored colors, such as `srgb` or `display-p3`; nil from services that do not tell.
    public let colorSpace: String?
    /// How the file holds light that is brighter than white: `none`, `pq`, `hlg` or `gain-map`; nil from services that
    /// do not tell.
    public let hdr: String?
    /// Size of the file.
    public let bytes: Int
    /// The origin's field.
    public let etag, lastModified: String?
    /// The dominant color, with ``Fact/color``.
    public let dominantColor: String?
    /// The main colors, the largest share first, with ``Fact/palette``.
    public let palette: [Swatch]?
    /// The BlurHash, with ``Fact/blurHash``.
    public let blurHash: String?
    /// The ThumbHash in base64, with ``Fact/thumbHash``.
    public let thumbHash: String?
    /// Texts of Exif, with ``Fact/exif``.
    public let exif: Exif?
}
