/// Facts about an image, as returned by `/info`.
public struct ImageInfo: Codable, Hashable, Sendable {
    /// Optional facts that are not in the header of the file.
    public enum Fact: String, Hashable, Sendable, CaseIterable {
        case color, palette
        case blurHash = "blurhash"
        case thumbHash = "thumbhash"
        case preview, exif, rights

        static func text(_ facts: Set<Fact>) -> String {
            allCases.filter(facts.contains).map(\.rawValue).joined(separator: ",")
        }
    }

    /// A color and its share of the image.
    public struct Swatch: Codable, Hashable, Sendable {
        /// The color, such as `#87abd6`.
        public let color: String
        /// The share of the visible pixels, 0 to 1.
        public let share: Double
    }

    /// Texts of the Exif metadata.
    public struct Exif: Codable, Hashable, Sendable {
        /// The text of this field; nil if the file has none.
        public let make, model, dateTime, copyright, artist: String?
    }

    /// The author, the license, and how the image was created, if the file states them.
    public struct Rights: Codable, Hashable, Sendable {
        /// The text of this field; nil if the file has none.
        public let creator, credit, copyright, usageTerms, webStatement, licensor, digitalSourceType: String?
    }

    /// The source as requested; nil for an upload.
    public let url: String?
    /// The format, such as `jpeg`.
    public let format: String
    /// The media type, such as `image/jpeg`.
    public let mediaType: String
    /// The size of the upright image in pixels.
    public let width, height: Int
    /// The size of a RAW photograph's sensor image; the service uses the embedded preview.
    public let rawWidth, rawHeight: Int?
    /// The Exif orientation; 1 is upright.
    public let orientation: Int
    /// The number of frames or pages.
    public let frames: Int
    /// Whether the file has an alpha channel.
    public let hasAlpha: Bool
    /// The number of bits per component.
    public let bitDepth: Int
    /// Whether the file is progressive or interlaced.
    public let progressive: Bool
    /// The color space of the file, such as `srgb` or `display-p3`; nil from older services.
    public let colorSpace: String?
    /// The encoding of high dynamic range: `none`, `pq`, `hlg` or `gain-map`; nil from older services.
    public let hdr: String?
    /// The size of the file in bytes.
    public let bytes: Int
    /// The field of the origin's response.
    public let etag, lastModified: String?
    /// The dominant color, if ``Fact/color`` was requested.
    public let dominantColor: String?
    /// The main colors by decreasing share, if ``Fact/palette`` was requested.
    public let palette: [Swatch]?
    /// The BlurHash, if ``Fact/blurHash`` was requested.
    public let blurHash: String?
    /// The ThumbHash in base64, if ``Fact/thumbHash`` was requested.
    public let thumbHash: String?
    /// A tiny WebP image as a `data:` URI of at most 256 bytes, if ``Fact/preview`` was requested.
    public let preview: String?
    /// Exif texts, if ``Fact/exif`` was requested.
    public let exif: Exif?
    /// Author and license, if ``Fact/rights`` was requested.
    public let rights: Rights?
    /// True if ``Fact/rights`` was requested and the file has a C2PA manifest, which is not verified.
    public let c2pa: Bool?
}
