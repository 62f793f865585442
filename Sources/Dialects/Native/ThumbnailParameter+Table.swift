import Recipes
import Text
import ThumbnailTypes

extension ThumbnailParameter {
    static let all: [ThumbnailParameter] =
        boxParameters + cropParameters + Operations.parameters.map { .operation($0) } + outputParameters
        + watermarkParameters + requestParameters

    private static let named = Dictionary(
        uniqueKeysWithValues: all.flatMap { parameter in
            ([parameter.name] + parameter.aliases).map { (ExactText($0), parameter) }
        })

    static let names = all.flatMap { [$0.name] + $0.aliases }

    static func named(_ name: String) -> ThumbnailParameter? { named[ExactText(name)] }

    static let namesOutsideRenditions = all.filter { !$0.uses.contains(.renditions) }.map(\.name)

    private static let boxParameters: [ThumbnailParameter] = [
        .optional(
            "url", \.source,
            as: .init("URL", read: { text, _ throws(APIError) in try ParameterGrammar.source(text) }) {
                URLEscape.encode($0)
            }, help: "the source", in: .besidePresets),
        .optional(
            "w", \.options.width, as: .side, help: "width of the box, 1 to 16384, or by client hints", alias: "width"
        ).allowingAuto(\.isWidthAutomatic).choosing(.width),
        .optional("h", \.options.height, as: .side, help: "height of the box, 1 to 16384", alias: "height").choosing(
            .height),
        .value("fit", \.options.fit, as: .choice, help: "how the image fits into the box"),
        .value("enlarge", \.options.enlarge, as: .flag, help: "1: enlarge images that are smaller than the box"),
        .optional(
            "area", \.options.maximumArea, as: .whole("PIXELS", from: 1, to: 100_000_000),
            help: "maximum pixels of the result, 1 to 100000000, with its ratio kept"),
        .optional(
            "multipleOf", \.options.multiple, as: .whole("PIXELS", from: 2, to: 256),
            help: "make both sides multiples of this number, 2 to 256"),
        .value(
            "dpr", \.options.devicePixelRatio,
            as: .fraction("RATIO", decimals: 3, in: 500...8_000, allowed: "0.5 to 8 with at most three"),
            help: "device pixels per CSS pixel, 0.5 to 8, or by client hints",
            in: [.renditions, .presets, .besidePresets]
        ).allowingAuto(\.isRatioAutomatic).choosing([.width, .height]),
    ]

    private static let cropParameters: [ThumbnailParameter] = [
        .gravity("gravity", help: "part of the image that fit=cover keeps"),
        .optional("fx", \.focalX, as: .share, help: "focal point from the left, 0 to 1, with gravity focal"),
        .optional("fy", \.focalY, as: .share, help: "focal point from the top, 0 to 1, with gravity focal"),
        .optional(
            "trim", \.options.operations.trim, as: .tolerance,
            help: "cut off borders that vary by at most this, 1 to 255"
        ).explained { $0.border.map { String($0.tolerance) } },
        .optional("trimColor", \.trimColor, as: .color, help: "color of the borders that trim cuts off")
            .explained { $0.border?.color?.hexadecimal },
        .optional(
            "crop", \.options.operations.crop, as: .cropArea,
            help: "part of the source, in pixels or as fractions such as 0.25"),
        .value("rotate", \.options.operations.rotation, as: .turn, help: "clockwise, -359 to 359"),
        .optional("flip", \.options.operations.flip, as: .choice, help: "mirror horizontally, vertically or both"),
    ]

    private static let outputParameters: [ThumbnailParameter] = [
        .value(
            "pad", \.options.operations.pad, as: .margins,
            help: "space around the result, one to four lengths as in CSS"),
        .value("radius", \.options.operations.radius, as: .radius, help: "round corners"),
        .optional("mask", \.options.operations.mask, as: .choice, help: "shape of the visible part"),
        .optional(
            "background", \.options.background, as: .color,
            help: "color behind transparent parts: rgb, rrggbb, rrggbbaa, rgb() or a CSS name"),
        .value(
            "format", \.format, as: .format, help: "format of the result", in: [.renditions, .presets, .besidePresets]
        ).explained { $0.format.rawValue },
        .quality("q", help: "auto: the lowest quality that looks the same", alias: "quality").choosing(.quality)
            .explained(\.qualityText),
        .value("lossless", \.options.isLossless, as: .flag, help: "1: encode webp, jxl and png without loss")
            .explained { $0.isFixedLossless ? "1" : nil },
        .optional(
            "maxBytes", \.options.maximumBytes, as: .whole("BYTES", from: 256, to: nil, largest: 999_999_999_999),
            help: "maximum size of the result in bytes, from 256"
        ).explained { $0.fittingBytes.map(String.init) },
        .optional(
            "avifBitDepth", \.options.avifBitDepth, as: .oneOf(ImageFormat.avif.bitDepths),
            help: "bits per component in avif"
        ).explained { $0.bitDepth == $0.format.bitDepth ? nil : String($0.bitDepth) },
        .optional("gamut", \.options.gamut, as: .choice, help: "color gamut; auto: p3 if the image has such colors")
            .explained { $0.gamut == .srgb ? nil : $0.gamut.rawValue },
        .value("keepCopyright", \.options.keepsCopyright, as: .flag, help: "1: keep the Exif copyright and artist")
            .explained { $0.attribution == nil ? nil : "1" },
        .optional(
            "keepMetadata", \.options.keptMetadata, as: .keptMetadata, help: "none, or a list of rights, ai to keep"
        ).explained { $0.rights?.kinds.text },
        .value("hdr", \.options.gainMap, as: .choice, help: "keep: jpeg results keep the source's gain map")
            .explained { $0.decode.keepsGainMap ? GainMapUse.keep.rawValue : nil },
        .optional("page", \.page, as: .whole("NUMBER", from: 0, to: nil), help: "page or frame to show, from 0")
            .explained { $0.decode.page > 0 ? String($0.decode.page) : nil },
        .value("animated", \.options.isAnimated, as: .flag, help: "1: keep all frames")
            .explained { $0.isAnimated ? "1" : nil },
    ]

    private static let watermarkParameters: [ThumbnailParameter] = [
        .watermark("watermark", help: "URL of an image to overlay, or its name in the settings file"),
        .ofWatermark("watermarkPosition", \.position, as: .position, help: "position of the watermark"),
        .ofWatermark("watermarkX", \.x, as: .distance(to: 16_384), help: "distance from it inward, -16384 to 16384"),
        .ofWatermark("watermarkY", \.y, as: .distance(to: 16_384), help: "distance from it inward, -16384 to 16384"),
        .ofWatermark("watermarkOpacity", \.opacity, as: .whole("PERCENT", from: 1, to: 100), help: "1 to 100"),
        .ofWatermark(
            "watermarkScale", \.scale,
            as: .fraction("SHARE", decimals: 4, in: 100...10_000, allowed: "0.01 to 1 with at most four"),
            help: "width relative to the result, 0.01 to 1"),
        .ofWatermark("watermarkTile", \.isTiled, as: .flag, help: "1: repeat the watermark over the whole result"),
    ]

    private static let requestParameters: [ThumbnailParameter] = [
        .presets("preset", help: "presets of the settings file, separated by commas"),
        .optional("placeholder", \.placeholder, as: .color, help: "sent if the source fails", in: .presets),
        .value(
            "tag", \.tags, as: .tags, help: "names under which the source can be purged, separated by commas",
            in: [.renditions, .presets, .besidePresets]
        ).choosing(.tags),
        .optional("expires", \.expires, as: .expiry, help: "Unix seconds at which the URL expires", in: .besidePresets),
        .signature("sig", help: "the signature"),
    ]
}

extension RenderPlan {
    fileprivate var isFixedLossless: Bool { if case .fixed = quality { isLossless } else { false } }

    fileprivate var fittingBytes: Int? { if case .fitting(let bytes, _, _) = quality { bytes } else { nil } }

    fileprivate var qualityText: String? {
        switch quality {
        case .fixed(let quality): isLossless || !format.hasQuality ? nil : String(visualQuality(of: quality))
        case .fitting(_, let highest, _): String(visualQuality(of: highest))
        case .similar: "auto"
        }
    }
}
