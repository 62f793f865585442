import Recipes

struct ImgproxyOptions: Hashable, Sendable {
    enum ResizingType: String, Hashable, Sendable, CaseIterable {
        case fit, fill
        case fillDown = "fill-down"
        case force, auto
    }

    struct Extension: Hashable, Sendable {
        var isOn = false
        var gravity = ImgproxyGravity()
    }

    struct Trim: Hashable, Sendable {
        /// The maximum difference from the border's color; nil disables the trim.
        var threshold: Double?
        /// The border's color; nil uses the top left pixel.
        var color: Color?
        /// Whether left and right are trimmed equally, by the narrower border.
        var isEqualAcross = false
        /// Whether top and bottom are trimmed equally, by the narrower border.
        var isEqualDown = false
    }

    struct Watermark: Hashable, Sendable {
        var opacity = 0.0
        var gravity = ImgproxyGravity()
        /// The size of the mark as a fraction of the result's sides; 0 keeps the mark's size.
        var scale = 0.0
    }

    var resizingType = ResizingType.fit
    var width = 0
    var height = 0
    /// In CSS pixels; 0 means no minimum.
    var minimumWidth = 0
    var minimumHeight = 0
    /// The factor for the width; greater than 0.
    var zoomX = 1.0
    var zoomY = 1.0
    /// The device pixel ratio; greater than 0.
    var ratio = 1.0
    var enlarges = false
    var extend = Extension()
    var extendRatio = Extension()
    var gravity = ImgproxyGravity()
    /// The size of the crop: pixels if at least 1, below that a fraction of the source's side; 0 keeps the side.
    var cropWidth = 0.0
    var cropHeight = 0.0
    /// The position of the crop; without a kind, ``gravity`` applies.
    var cropGravity = ImgproxyGravity()
    var trim = Trim()
    var padding = ImageOperations.Margins()
    var turnsUpright: Bool
    var quarters = 0
    var mirrorsX = false
    var mirrorsY = false
    var background: Color?
    var blur = 0.0
    var sharpen = 0.0
    var pixelate = 1
    var watermark = Watermark()
    var stripsMetadata: Bool
    var keepsCopyright: Bool
    /// Automatic if the source's colors are kept, sRGB if the target drops them; nil for the service's default.
    var gamut: Gamut?
    /// From 1 to 100; 0 selects the format's default.
    var quality = 0
    var formatQualities: [ImgproxyFormat: Int]
    var maximumBytes = 0
    var format: ImgproxyFormat?
    var skippedFormats: Set<ImgproxyFormat>
    var isRaw = false
    var maximumSourcePixels: Int?
    var maximumFrames: Int
    /// The maximum pixels of a frame; 0 uses the limit for sources.
    var maximumFramePixels: Int
    var maximumSide: Int

    init(_ defaults: ImgproxyDefaults) {
        turnsUpright = defaults.turnsUpright
        stripsMetadata = defaults.stripsMetadata
        keepsCopyright = defaults.keepsCopyright
        gamut = defaults.stripsColorProfile ? nil : .auto
        formatQualities = defaults.formatQualities
        skippedFormats = defaults.skippedFormats
        maximumFrames = defaults.maximumFrames
        maximumFramePixels = defaults.maximumFramePixels
        maximumSide = defaults.maximumSide
    }

    var hasPadding: Bool { padding != ImageOperations.Margins() }

    var effectiveCropGravity: ImgproxyGravity { cropGravity.kind == nil ? gravity : cropGravity }
}

extension ImgproxyOptions {
    var keyText: String {
        let box = "\(resizingType.rawValue) \(width)x\(height) least \(minimumWidth)x\(minimumHeight)"
        let factors = "\(zoomX) \(zoomY) \(ratio) \(enlarges) most \(maximumSide)"
        let crop = "crop \(cropWidth)x\(cropHeight) \(effectiveCropGravity.keyText) to \(gravity.keyText)"
        let canvas = "canvas \(extend.keyText) \(extendRatio.keyText)"
        let pad = "pad \(padding.top),\(padding.right),\(padding.bottom),\(padding.left)"
        let turn = "turn \(turnsUpright) \(quarters) \(mirrorsX) \(mirrorsY)"
        let fill = "background \(background.map { $0.hexadecimal } ?? "none")"
        let filters = "filters \(blur) \(sharpen) \(pixelate)"
        let mark = "watermark \(watermark.opacity) \(watermark.gravity.keyText) \(watermark.scale)"
        return [box, factors, crop, canvas, pad, turn, fill, filters, mark].joined(separator: " ")
    }
}

extension ImgproxyOptions.Extension {
    fileprivate var keyText: String { isOn ? gravity.keyText : "off" }
}
