/// The appearance of a thumbnail: the parameters of `/thumbnail` except its source.
///
/// Properties that are nil are not sent: the service's presets and defaults apply. The service validates values.
///
/// ```swift
/// let card = Rendition(width: 400, height: 300, fit: .cover, format: .auto)
/// ```
public struct Rendition: Hashable, Sendable {
    /// The width of the box in CSS pixels.
    public var width: Int?
    /// The height of the box in CSS pixels.
    public var height: Int?
    /// How to fit the image into the box.
    public var fit: Fit?
    /// Whether the result may be larger than the source.
    public var enlarge: Bool?
    /// The maximum number of pixels of the result, before padding.
    public var area: Int?
    /// The number of which both sides of the result are multiples, before padding: 2 to 256.
    public var multipleOf: Int?
    /// The number of device pixels per CSS pixel, 0.5 to 8, rounded to three decimals.
    public var devicePixelRatio: Double?
    /// Takes sizes from client hints instead of ``width`` and ``devicePixelRatio``, for URLs in web pages; requires the
    /// service's `sizes` setting.
    public var automatic: AutomaticSizes = []
    /// The part to keep with ``Fit/cover``.
    public var gravity: Gravity?
    /// Crops borders whose pixels differ by at most this value, 1 to 255.
    public var trim: Int?
    /// The color of the borders that ``trim`` crops.
    public var trimColor: Color?
    /// The rectangle of the source to keep.
    public var crop: Crop?
    /// The rotation clockwise in degrees.
    public var rotation: Int?
    /// The direction in which to mirror the image.
    public var flip: Flip?
    /// Color adjustments.
    public var colors = ColorFilters()
    /// The standard deviation of the blur in CSS pixels, 0.3 to 100.
    public var blur: Double?
    /// The standard deviation of the unsharp mask in CSS pixels, 0.3 to 10.
    public var sharpen: Double?
    /// The size of the single-color blocks in CSS pixels.
    public var pixelate: Int?
    /// Padding around the result.
    public var pad: Margins?
    /// The radius of rounded corners.
    public var radius: Radius?
    /// The shape to cut out.
    public var mask: Mask?
    /// The color behind transparent pixels.
    public var background: Color?
    /// The output format.
    public var format: Format?
    /// The quality of the encoder.
    public var quality: Quality?
    /// Whether a WebP, JPEG XL or PNG result is lossless; not with ``quality`` or ``maximumBytes``.
    public var isLossless: Bool?
    /// The maximum size of the result in bytes, at least 256.
    public var maximumBytes: Int?
    /// The number of bits per component of an AVIF result: 8 or 10.
    public var avifBitDepth: Int?
    /// The color gamut of the result.
    public var gamut: Gamut?
    /// Whether to keep the Exif copyright and artist.
    public var keepsCopyright: Bool?
    /// The metadata to keep; nil uses the service's setting.
    public var keptMetadata: Set<Metadata>?
    /// Whether a JPEG result keeps the source's gain map.
    public var keepsGainMap: Bool?
    /// The page or frame to render, from 0.
    public var page: Int?
    /// Whether to keep all frames.
    public var isAnimated: Bool?
    /// An image drawn over the result.
    public var watermark: Watermark?
    /// Presets from the settings file; later ones take precedence.
    public var presets: [String] = []
    /// Tags by which the service can purge the source, at most eight.
    public var tags: [String] = []
    /// Parameters for which this version of the library has no property, in order.
    public var additional: [Parameter] = []

    /// Creates a rendition that fits the source into a box.
    public init(width: Int? = nil, height: Int? = nil, fit: Fit? = nil, format: Format? = nil) {
        self.width = width
        self.height = height
        self.fit = fit
        self.format = format
    }

    /// A parameter of the service: its name, and its value before percent-encoding.
    public struct Parameter: Hashable, Sendable {
        /// The name, such as `w`.
        public var name: String
        /// The value, such as `300`.
        public var value: String

        /// Creates a parameter.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The parameters that have a value, in the order of the service's documentation.
    public var parameters: [Parameter] {
        let gravity = gravity?.values
        let rows: [(name: String, value: String?)] = [
            ("w", automatic.contains(.width) ? "auto" : width?.description),
            ("h", height?.description),
            ("fit", fit?.rawValue),
            ("enlarge", enlarge.map(flag)),
            ("area", area?.description),
            ("multipleOf", multipleOf?.description),
            ("dpr", automatic.contains(.devicePixelRatio) ? "auto" : devicePixelRatio.map { decimal($0, places: 3) }),
            ("gravity", gravity?.name),
            ("fx", gravity?.x.map { decimal($0, places: 3) }),
            ("fy", gravity?.y.map { decimal($0, places: 3) }),
            ("trim", trim?.description),
            ("trimColor", trimColor?.text),
            ("crop", crop?.text),
            ("rotate", rotation?.description),
            ("flip", flip?.rawValue),
            ("brightness", colors.brightness?.description),
            ("contrast", colors.contrast?.description),
            ("saturate", colors.saturation?.description),
            ("hue", colors.hue?.description),
            ("grayscale", colors.grayscale?.description),
            ("sepia", colors.sepia?.description),
            ("invert", colors.inversion?.description),
            ("blur", blur.map { decimal($0, places: 2) }),
            ("sharpen", sharpen.map { decimal($0, places: 2) }),
            ("pixelate", pixelate?.description),
            ("pad", pad?.text),
            ("radius", radius?.text),
            ("mask", mask?.rawValue),
            ("background", background?.text),
            ("format", format?.rawValue),
            ("q", quality?.text),
            ("lossless", isLossless.map(flag)),
            ("maxBytes", maximumBytes?.description),
            ("avifBitDepth", avifBitDepth?.description),
            ("gamut", gamut?.rawValue),
            ("keepCopyright", keepsCopyright.map(flag)),
            ("keepMetadata", keptMetadata.map(words)),
            ("hdr", keepsGainMap.map { $0 ? "keep" : "drop" }),
            ("page", page?.description),
            ("animated", isAnimated.map(flag)),
            ("watermark", watermark?.source),
            ("watermarkPosition", watermark?.position?.rawValue),
            ("watermarkX", watermark?.x?.description),
            ("watermarkY", watermark?.y?.description),
            ("watermarkOpacity", watermark?.opacity?.description),
            ("watermarkScale", watermark?.scale.map { decimal($0, places: 4) }),
            ("watermarkTile", watermark?.isTiled.map(flag)),
            ("preset", presets.isEmpty ? nil : presets.joined(separator: ",")),
            ("tag", tags.isEmpty ? nil : tags.joined(separator: ",")),
        ]
        return rows.compactMap { name, value in value.map { Parameter(name, $0) } } + additional
    }

    /// The percent-encoded query with all ``parameters``.
    public var query: String { parameters.map(\.text).joined(separator: "&") }
}

extension Rendition.Parameter {
    /// Name and value as in a query: all except the unreserved characters of RFC 3986 are percent-encoded.
    var text: String { "\(Self.encoded(name))=\(Self.encoded(value))" }

    private static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let character = Character(UnicodeScalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
                result.append(character)
            } else {
                result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }
}

private func words(_ metadata: Set<Rendition.Metadata>) -> String {
    metadata.isEmpty ? "none" : metadata.map(\.rawValue).sorted().joined(separator: ",")
}

private func flag(_ isOn: Bool) -> String { isOn ? "1" : "0" }

/// Formats a number with at most `places` decimals and never with an exponent.
func decimal(_ value: Double, places: Int) -> String {
    let unit = (0..<places).reduce(1) { product, _ in product * 10 }
    let scaled = (value * Double(unit)).rounded()
    // The service rejects such a number with a message that names it.
    guard scaled.magnitude < 1e15 else { return "\(value)" }
    // `Int` has 32 bits on some watches.
    let (whole, rest) = Int64(scaled.magnitude).quotientAndRemainder(dividingBy: Int64(unit))
    var text = (scaled < 0 ? "-" : "") + String(whole)
    guard rest > 0 else { return text }
    let digits = String(rest)
    text += "." + String(repeating: "0", count: places - digits.count) + digits
    while text.last == "0" { text.removeLast() }
    return text
}
