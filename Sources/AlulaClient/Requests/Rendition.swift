/// How a thumbnail looks: the parameters of `/thumbnail` besides its source.
///
/// A property that is nil is not written, so the service's presets and defaults count. The service judges the values.
///
/// ```swift
/// let card = Rendition(width: 400, height: 300, fit: .cover, format: .auto)
/// ```
public struct Rendition: Hashable, Sendable {
    /// Width of the box in CSS pixels.
    public var width: Int?
    /// Height of the box in CSS pixels.
    public var height: Int?
    /// How the image is fitted into the box.
    public var fit: Fit?
    /// Whether the result may be larger than the source.
    public var enlarge: Bool?
    /// Device pixels per CSS pixel, 0.5 to 8; three decimals count.
    public var devicePixelRatio: Double?
    /// The sizes that the client's hints say in place of ``width`` and ``devicePixelRatio``, for URLs in pages; the
    /// service needs its setting `sizes` for them.
    public var automatic: AutomaticSizes = []
    /// The part that ``Fit/cover`` keeps.
    public var gravity: Gravity?
    /// Borders are cut off whose pixels differ by at most this, 1 to 255.
    public var trim: Int?
    /// The color of the borders that ``trim`` cuts off.
    public var trimColor: Color?
    /// The part of the source that is kept.
    public var crop: Crop?
    /// Degrees clockwise.
    public var rotation: Int?
    /// The sides that change places.
    public var flip: Flip?
    /// The changes of the colors.
    public var colors = ColorFilters()
    /// Standard deviation of the blur in CSS pixels, 0.3 to 100.
    public var blur: Double?
    /// Standard deviation of the unsharp mask in CSS pixels, 0.3 to 10.
    public var sharpen: Double?
    /// Side of the blocks that become one color, in CSS pixels.
    public var pixelate: Int?
    /// Space around the result.
    public var pad: Margins?
    /// The radius of rounded corners.
    public var radius: Radius?
    /// The shape that stays.
    public var mask: Mask?
    /// The color behind what is transparent.
    public var background: Color?
    /// The format of the result.
    public var format: Format?
    /// The quality of the encoder.
    public var quality: Quality?
    /// Most bytes of the result, from 256.
    public var maximumBytes: Int?
    /// Bits of a component of an AVIF result: 8 or 10.
    public var avifBitDepth: Int?
    /// The colors that the result shows.
    public var gamut: Gamut?
    /// Whether the Exif copyright and artist are kept.
    public var keepsCopyright: Bool?
    /// Whether a JPEG result keeps the source's gain map.
    public var keepsGainMap: Bool?
    /// The page or frame to show, from 0.
    public var page: Int?
    /// Whether all frames are kept.
    public var isAnimated: Bool?
    /// An image that is laid over the result.
    public var watermark: Watermark?
    /// Presets of the settings file; later ones win.
    public var presets: [String] = []
    /// Names under which the service can purge the source, at most eight.
    public var tags: [String] = []
    /// Parameters that this version of the library has no property for, in their order.
    public var additional: [Parameter] = []

    /// A rendition that fits the source into a box.
    public init(width: Int? = nil, height: Int? = nil, fit: Fit? = nil, format: Format? = nil) {
        (self.width, self.height, self.fit, self.format) = (width, height, fit, format)
    }

    /// A parameter of the service: its name, and its value before percent-encoding.
    public struct Parameter: Hashable, Sendable {
        /// The name, such as `w`.
        public var name: String
        /// The value, such as `300`.
        public var value: String

        /// A parameter of this name and value.
        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// The parameters that have a value, in the order of the service's own documents.
    public var parameters: [Parameter] {
        let gravity = gravity?.values
        let rows: [(name: String, value: String?)] = [
            ("w", automatic.contains(.width) ? "auto" : width?.description),
            ("h", height?.description),
            ("fit", fit?.rawValue),
            ("enlarge", enlarge.map(flag)),
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
            ("maxBytes", maximumBytes?.description),
            ("avifBitDepth", avifBitDepth?.description),
            ("gamut", gamut?.rawValue),
            ("keepCopyright", keepsCopyright.map(flag)),
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

    /// The query that ``parameters`` make, percent-encoded.
    public var query: String { parameters.map(\.text).joined(separator: "&") }
}

extension Rendition.Parameter {
    /// Name and value as a query holds them: all but the unreserved characters of RFC 3986 are percent-encoded.
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

private func flag(_ isOn: Bool) -> String { isOn ? "1" : "0" }

/// A number with at most `places` decimals, never with an exponent.
func decimal(_ value: Double, places: Int) -> String {
    let unit = (0..<places).reduce(1) { product, _ in product * 10 }
    let scaled = (value * Double(unit)).rounded()
    // The service refuses such a number by its name.
    guard scaled.magnitude < 1e15 else { return "\(value)" }
    let (whole, rest) = Int(scaled.magnitude).quotientAndRemainder(dividingBy: unit)
    var text = (scaled < 0 ? "-" : "") + String(whole)
    guard rest > 0 else { return text }
    let digits = String(rest)
    text += "." + String(repeating: "0", count: places - digits.count) + digits
    while text.last == "0" { text.removeLast() }
    return text
}
