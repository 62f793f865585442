import Imaging

/// A format by the names that imgproxy has for it.
enum ImgproxyFormat: String, Hashable, Sendable, CaseIterable {
    case jpeg, jxl, png, webp, gif, ico, svg, heic, avif, bmp, tiff

    /// The format of this name; nil if there is none.
    init?(name: some StringProtocol) {
        if name == "jpg" {
            self = .jpeg
        } else {
            self.init(rawValue: String(name))
        }
    }

    /// The format of this name, which stands in `option`.
    init(named name: String, in option: String) throws(APIError) {
        guard let format = Self(name: name) else {
            throw .badChoice(option, allowed: Self.allCases.map(\.rawValue))
        }
        self = format
    }

    /// The format of a source.
    init(_ format: ImageFormat) {
        self =
            switch format {
            case .jpeg: .jpeg
            case .png: .png
            case .webp: .webp
            case .gif: .gif
            case .avif: .avif
            case .heic: .heic
            case .jxl: .jxl
            case .tiff: .tiff
            case .bmp: .bmp
            case .ico: .ico
            case .svg: .svg
            }
    }

    /// The format that answers are written in; nil if none are.
    var written: ImageFormat? { ImageFormat(rawValue: rawValue).flatMap { $0.isWritten ? $0 : nil } }
}

/// The formats that a client's `Accept` lets imgproxy choose.
struct ImgproxyNegotiation: Hashable, Sendable {
    /// The use of a format that the client accepts.
    enum Use: Int, Hashable, Sendable, Comparable {
        /// It is never chosen.
        case never
        /// It is chosen if the target names no format.
        case preferred
        /// It is chosen whatever the target says.
        case enforced

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// The use of JPEG XL.
    var jxl = Use.never
    /// The use of AVIF.
    var avif = Use.never
    /// The use of WebP.
    var webp = Use.never

    /// Whether any format is chosen by `Accept`.
    var isOn: Bool { self != ImgproxyNegotiation() }

    /// Whether a target that names a format can get another one.
    var canEnforce: Bool { max(jxl, avif, webp) == .enforced }

    /// The use of the formats that a client accepts.
    func accepted(by accept: String?) -> ImgproxyNegotiation {
        guard isOn else { return self }
        let accepted = AcceptedFormats.qualities(accept)
        func use(_ use: Use, _ format: ImageFormat) -> Use { accepted[format] == nil ? .never : use }
        return ImgproxyNegotiation(jxl: use(jxl, .jxl), avif: use(avif, .avif), webp: use(webp, .webp))
    }

    /// The formats of this use at least, best first.
    func formats(_ use: Use, isAnimated: Bool) -> [ImageFormat] {
        let stills = isAnimated ? [] : [(ImageFormat.jxl, jxl), (.avif, avif)]
        return (stills + [(.webp, webp)]).filter { $0.1 >= use }.map(\.0)
    }

    /// The text in the key of a result.
    var keyText: String { "\(jxl.rawValue)\(avif.rawValue)\(webp.rawValue)" }
}
