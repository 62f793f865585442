import Recipes

enum ImgproxyFormat: String, Hashable, Sendable, CaseIterable {
    case jpeg, jxl, png, webp, gif, ico, svg, heic, avif, bmp, tiff

    init?(name: some StringProtocol) {
        if name == "jpg" {
            self = .jpeg
        } else {
            self.init(rawValue: String(name))
        }
    }

    init(named name: String, in option: String) throws(APIError) {
        guard let format = Self(name: name) else { throw .badChoice(option, allowed: Self.allCases.map(\.rawValue)) }
        self = format
    }

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
            case .tiff, .raw: .tiff
            case .bmp: .bmp
            case .ico: .ico
            case .svg: .svg
            }
    }

    var written: ImageFormat? { ImageFormat(rawValue: rawValue).flatMap { $0.isWritten ? $0 : nil } }
}

struct ImgproxyNegotiation: Hashable, Sendable {
    enum Use: Int, Hashable, Sendable, Comparable {
        case never
        case preferred
        case enforced

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    var jxl = Use.never
    var avif = Use.never
    var webp = Use.never

    var isOn: Bool { self != ImgproxyNegotiation() }

    var canEnforce: Bool { max(jxl, avif, webp) == .enforced }

    func accepted(by accept: String?) -> ImgproxyNegotiation {
        guard isOn else { return self }
        let accepted = AcceptedFormats.qualities(accept)
        func use(_ use: Use, _ format: ImageFormat) -> Use { accepted[format] == nil ? .never : use }
        return ImgproxyNegotiation(jxl: use(jxl, .jxl), avif: use(avif, .avif), webp: use(webp, .webp))
    }

    func formats(_ use: Use, isAnimated: Bool) -> [ImageFormat] {
        let stills = isAnimated ? [] : [(ImageFormat.jxl, jxl), (.avif, avif)]
        return (stills + [(.webp, webp)]).filter { $0.1 >= use }.map(\.0)
    }

    var keyText: String { "\(jxl.rawValue)\(avif.rawValue)\(webp.rawValue)" }
}
