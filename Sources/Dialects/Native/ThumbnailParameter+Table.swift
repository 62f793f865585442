import Recipes
import Text
import ThumbnailTypes

extension ThumbnailParameter {
    static let all: [ThumbnailParameter] =
        boxes + geometry + Operations.parameters.map { .operation($0) } + files + watermarks + requests

    private static let named = Dictionary(
        uniqueKeysWithValues: all.flatMap { parameter in
            ([parameter.name] + parameter.aliases).map { (ExactText($0), parameter) }
        })

    static let names = all.flatMap { [$0.name] + $0.aliases }

    static func named(_ name: String) -> ThumbnailParameter? { named[ExactText(name)] }

    static let namesOutsideRenditions = all.filter { !$0.uses.contains(.renditions) }.map(\.name)

    private static let boxes: [ThumbnailParameter] = [
        .optional(
            "url", \.source,
            .init("URL", read: { text, _ throws(APIError) in try ParameterGrammar.source(text) }) {
                URLEscape.encode($0)
            }, "the source", in: .besidePresets),
        .optional(
            "w", \.options.width, .side, "width of the box, 1 to 16384, or by client hints", alias: "width"
        ).allowingAuto(\.isWidthAutomatic).choosing(.width),
        .optional("h", \.options.height, .side, "height of the box, 1 to 16384", alias: "height").choosing(.height),
        .value("fit", \.options.fit, .choice, "how the image fits into the box"),
        .value("enlarge", \.options.enlarge, .flag, "1: a small image may be enlarged"),
        .optional(
            "area", \.options.maximumArea, .whole("PIXELS", from: 1, to: 100_000_000),
            "most pixels of the result, 1 to 100000000, ratio kept"),
        .optional(
            "multipleOf", \.options.multiple, .whole("PIXELS", from: 2, to: 256),
            "both sides are multiples of it, 2 to 256"),
        .value(
            "dpr", \.options.devicePixelRatio,
            .fraction("RATIO", decimals: 3, in: 500...8_000, "0.5 to 8 with at most three"),
            "device pixels per CSS pixel, 0.5 to 8, or by client hints", in: [.renditions, .presets, .besidePresets]
        ).allowingAuto(\.isRatioAutomatic).choosing([.width, .height]),
    ]

    private static let geometry: [ThumbnailParameter] = [
        .gravity("gravity", "the part that fit=cover keeps"),
        .optional("fx", \.focalX, .share, "focal point from the left, 0 to 1, with gravity focal"),
        .optional("fy", \.focalY, .share, "focal point from the top, 0 to 1, with gravity focal"),
        .optional(
            "trim", \.options.operations.trim, .tolerance, "cut off borders that differ by at most this, 1 to 255"),
        .optional("trimColor", \.trimColor, .color, "the color of the borders that trim cuts off"),
        .optional(
            "crop", \.options.operations.crop, .part, "part of the source, in pixels or as fractions such as 0.25"),
        .value("rotate", \.options.operations.rotation, .turn, "clockwise, -359 to 359"),
        .optional("flip", \.options.operations.flip, .choice, "mirror: left and right, or up and down"),
    ]

    private static let files: [ThumbnailParameter] = [
        .value("pad", \.options.operations.pad, .margins, "space around the result, one to four lengths as in CSS"),
        .value("radius", \.options.operations.radius, .radius, "round corners"),
        .optional("mask", \.options.operations.mask, .choice, "the shape that stays"),
        .optional(
            "background", \.options.background, .color,
            "rgb, rrggbb, rrggbbaa, rgb() or a CSS name, behind what is transparent"),
        .value("format", \.format, .format, "format of the result", in: [.renditions, .presets, .besidePresets]),
        .quality("q", "auto: the lowest quality that looks the same", alias: "quality").choosing(.quality),
        .value("lossless", \.options.isLossless, .flag, "1: webp, jxl and png have the rendered pixels exactly"),
        .optional(
            "maxBytes", \.options.maximumBytes, .whole("BYTES", from: 256, to: nil, largest: 999_999_999_999),
            "most bytes of the result, from 256"),
        .optional(
            "avifBitDepth", \.options.avifBitDepth, .oneOf(ImageFormat.avif.bitDepths),
            "bits of a component in avif, 8 or 10"),
        .optional("gamut", \.options.gamut, .choice, "the colors that are shown; auto: p3 if the image has such"),
        .value("keepCopyright", \.options.keepsCopyright, .flag, "1: keep the Exif copyright and artist"),
        .optional("keepMetadata", \.options.keptMetadata, .kept, "none, or of rights and ai those to keep"),
        .value("hdr", \.options.gainMap, .choice, "keep: a jpeg answer keeps the source's gain map"),
        .optional("page", \.page, .whole("NUMBER", from: 0, to: nil), "the page or frame to show, from 0"),
        .value("animated", \.options.isAnimated, .flag, "1: keep all frames"),
    ]

    private static let watermarks: [ThumbnailParameter] = [
        .watermark("watermark", "an image to lay over the result, or its name in the settings file"),
        .ofWatermark("watermarkPosition", \.position, .place, "where the watermark lies"),
        .ofWatermark("watermarkX", \.x, .distance(to: 16_384), "inwards from that place, -16384 to 16384"),
        .ofWatermark("watermarkY", \.y, .distance(to: 16_384), "inwards from that place, -16384 to 16384"),
        .ofWatermark("watermarkOpacity", \.opacity, .whole("PERCENT", from: 1, to: 100), "1 to 100"),
        .ofWatermark(
            "watermarkScale", \.scale, .fraction("SHARE", decimals: 4, in: 100...10_000, "0.01 to 1 with at most four"),
            "its width as a share of the result's, 0.01 to 1"),
        .ofWatermark("watermarkTile", \.isTiled, .flag, "1: repeat the watermark all over"),
    ]

    private static let requests: [ThumbnailParameter] = [
        .presets("preset", "presets of the settings file, with commas between them"),
        .optional("placeholder", \.placeholder, .color, "sent if the source fails", in: .presets),
        .value(
            "tag", \.tags, .tags, "names under which the source can be purged, with commas between them",
            in: [.renditions, .presets, .besidePresets]
        ).choosing(.tags),
        .optional("expires", \.expires, .expiry, "Unix seconds at which the URL expires", in: .besidePresets),
        .signature("sig", "the signature"),
    ]
}
