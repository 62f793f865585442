import Imaging
package import ThumbnailPipeline

/// A parameter of `/thumbnail` as people read about it: the options of the command line, its help and its completion
/// are made of these.
package struct ThumbnailOption: Sendable {
    /// The main name.
    package let name: String
    /// Other names of the same parameter.
    package let aliases: [String]
    /// The values in one word, such as `PIXELS`.
    package let form: String
    /// All values, if they are few words.
    package let values: [String]
    /// The effect, in one line.
    package let help: String

    /// All parameters that say how a result looks, in the order of the contract.
    package static let all: [ThumbnailOption] = ThumbnailParameter.allCases.compactMap { parameter in
        guard parameter.isAllowedInRenditions else { return nil }
        let guide = parameter.guide
        return ThumbnailOption(
            name: parameter.rawValue, aliases: parameter.aliases,
            form: guide.form, values: guide.values, help: guide.help)
    }

    /// The parameter of this name or alias.
    package static func named(_ name: String) -> ThumbnailOption? {
        all.first { $0.name == name || $0.aliases.contains(name) }
    }
}

extension NativeDialect {
    /// The request that options make of a source that stands elsewhere; the same reader reads them as the parameters of
    /// a target.
    ///
    /// - Throws: ``APIError`` that names the first option that is wrong.
    package func request(options: [(name: String, value: String)]) throws(APIError) -> ThumbnailRequest {
        try rendition(Self.query(options: options), of: Self.uploadedSource, accept: nil).request
    }

    /// The options as a query of `/thumbnail`.
    package static func query(options: [(name: String, value: String)]) -> String {
        options.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}

extension ThumbnailParameter {
    /// The names besides the main one.
    var aliases: [String] {
        switch self {
        case .width: ["width"]
        case .height: ["height"]
        case .quality: ["quality"]
        default: []
        }
    }

    /// Whether a rendition of a source that stands elsewhere may have the parameter.
    fileprivate var isAllowedInRenditions: Bool {
        switch self {
        case .url, .placeholder, .expires, .signature: false
        default: true
        }
    }

    /// The parameter's form, values and help for people.
    fileprivate var guide: (form: String, values: [String], help: String) {
        switch self {
        case .url: ("URL", [], "the source")
        case .width: ("PIXELS", [], "width of the box, 1 to 16384")
        case .height: ("PIXELS", [], "height of the box, 1 to 16384")
        case .fit: Self.choice(Fit.allCases.map(\.rawValue), "how the image fits into the box")
        case .enlarge: Self.flag("1: a small image may be enlarged")
        case .devicePixelRatio: ("RATIO", [], "device pixels per CSS pixel, 0.5 to 8")
        case .gravity: Self.choice(ParameterGrammar.gravityNames + ["focal"], "the part that fit=cover keeps")
        case .focalX: ("SHARE", [], "focal point from the left, 0 to 1, with gravity focal")
        case .focalY: ("SHARE", [], "focal point from the top, 0 to 1, with gravity focal")
        case .trim: ("DIFFERENCE", [], "cut off borders that differ by at most this, 1 to 255")
        case .trimColor: ("COLOR", [], "the colour of the borders that trim cuts off")
        case .crop: ("X,Y,W,H", [], "part of the source, in pixels or as fractions such as 0.25")
        case .rotate: ("DEGREES", [], "clockwise, 0 to 359")
        case .flip: Self.choice(ImageOperations.Flip.allCases.map(\.rawValue), "mirror: left and right, or up and down")
        case .brightness: ("PERCENT", [], "0 to 400; 100 changes nothing")
        case .contrast: ("PERCENT", [], "0 to 400; 100 changes nothing")
        case .saturate: ("PERCENT", [], "0 to 400; 100 changes nothing")
        case .hue: ("DEGREES", [], "turn all colours, 0 to 359")
        case .grayscale: ("PERCENT", [], "0 to 100")
        case .sepia: ("PERCENT", [], "0 to 100")
        case .invert: ("PERCENT", [], "0 to 100")
        case .blur: ("SIGMA", [], "0.3 to 100 CSS pixels")
        case .sharpen: ("SIGMA", [], "0.3 to 10 CSS pixels")
        case .pixelate: ("PIXELS", [], "side of a block, 2 to 256")
        case .pad: ("TOP,RIGHT…", [], "space around the result, one to four lengths as in CSS")
        case .radius: ("PIXELS|max", [], "round corners")
        case .mask: Self.choice(ImageOperations.Mask.allCases.map(\.rawValue), "the shape that stays")
        case .background: ("COLOR", [], "rgb, rrggbb, rrggbbaa or a CSS name, behind what is transparent")
        case .format: Self.choice(ParameterGrammar.formatNames, "format of the result")
        case .quality: ("1…100|auto", [], "auto: the lowest quality that looks the same")
        case .maximumBytes: ("BYTES", [], "most bytes of the result, from 256")
        case .keepCopyright: Self.flag("1: keep the Exif copyright and artist")
        case .page: ("NUMBER", [], "the page or frame to show, from 0")
        case .animated: Self.flag("1: keep all frames")
        case .watermark: ("URL|NAME", [], "an image to lay over the result, or its name in the settings file")
        case .watermarkPosition: Self.choice(ParameterGrammar.placeNames, "where the watermark lies")
        case .watermarkX: ("PIXELS", [], "inwards from that place, -16384 to 16384")
        case .watermarkY: ("PIXELS", [], "inwards from that place, -16384 to 16384")
        case .watermarkOpacity: ("PERCENT", [], "1 to 100")
        case .watermarkScale: ("SHARE", [], "its width as a share of the result's, 0.01 to 1")
        case .watermarkTile: Self.flag("1: repeat the watermark all over")
        case .preset: ("NAMES", [], "presets of the settings file, with commas between them")
        case .placeholder: ("COLOR", [], "sent if the source fails")
        case .expires: ("SECONDS", [], "Unix seconds at which the URL expires")
        case .signature: ("SIGNATURE", [], "the signature")
        }
    }

    private static func choice(_ values: [String], _ help: String) -> (form: String, values: [String], help: String) {
        ("WORD", values, "\(help): \(values.joined(separator: ", "))")
    }

    private static func flag(_ help: String) -> (form: String, values: [String], help: String) {
        ("0|1", ["0", "1"], help)
    }
}
