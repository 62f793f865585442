import Imaging
import Text

/// A parameter of `/thumbnail`, by its main name; in the order in which targets are written.
enum ThumbnailParameter: String, CaseIterable {
    case url
    case width = "w"
    case height = "h"
    case fit, enlarge
    case devicePixelRatio = "dpr"
    case gravity
    case focalX = "fx"
    case focalY = "fy"
    case trim, trimColor, crop, rotate, flip
    case brightness, contrast, saturate, hue, grayscale, sepia, invert
    case blur, sharpen, pixelate, pad, radius, mask
    case background, format
    case quality = "q"
    case maximumBytes = "maxBytes"
    case avifBitDepth, gamut, keepCopyright, hdr, page, animated
    case watermark, watermarkPosition, watermarkX, watermarkY, watermarkOpacity, watermarkScale, watermarkTile
    case preset, placeholder, tag, expires
    case signature = "sig"

    var row: ThumbnailParameterRow {
        switch self {
        case .url:
            .optional(
                \.source,
                .init("URL", read: { text, _ throws(APIError) in try ParameterGrammar.source(text) }) {
                    PercentEncoding.encode($0)
                }, "the source", in: .besidePresets)
        case .width:
            .optional(\.options.width, .side, "width of the box, 1 to 16384, or by client hints", alias: "width")
                .orAutomatic(\.isWidthAutomatic)
        case .height: .optional(\.options.height, .side, "height of the box, 1 to 16384", alias: "height")
        case .fit: .value(\.options.fit, .choice, "how the image fits into the box")
        case .enlarge: .value(\.options.enlarge, .flag, "1: a small image may be enlarged")
        case .devicePixelRatio:
            .value(
                \.options.devicePixelRatio,
                .fraction("RATIO", decimals: 3, in: 500...8_000, "0.5 to 8 with at most three"),
                "device pixels per CSS pixel, 0.5 to 8, or by client hints",
                in: [.renditions, .presets, .besidePresets]
            ).orAutomatic(\.isRatioAutomatic)
        case .gravity: .gravity("the part that fit=cover keeps")
        case .focalX: .optional(\.focalX, .share, "focal point from the left, 0 to 1, with gravity focal")
        case .focalY: .optional(\.focalY, .share, "focal point from the top, 0 to 1, with gravity focal")
        case .trim:
            .optional(\.options.operations.trim, .tolerance, "cut off borders that differ by at most this, 1 to 255")
        case .trimColor: .optional(\.trimColor, .color, "the color of the borders that trim cuts off")
        case .crop:
            .optional(\.options.operations.crop, .part, "part of the source, in pixels or as fractions such as 0.25")
        case .rotate: .value(\.options.operations.rotation, .turn, "clockwise, -359 to 359")
        case .flip: .optional(\.options.operations.flip, .choice, "mirror: left and right, or up and down")
        case .brightness: .color(\.brightness, .percent(to: 400), "0 to 400; 100 changes nothing")
        case .contrast: .color(\.contrast, .percent(to: 400), "0 to 400; 100 changes nothing")
        case .saturate: .color(\.saturation, .percent(to: 400), "0 to 400; 100 changes nothing")
        case .hue: .color(\.hue, .degrees, "turn all colors, 0 to 359")
        case .grayscale: .color(\.grayscale, .percent(to: 100), "0 to 100")
        case .sepia: .color(\.sepia, .percent(to: 100), "0 to 100")
        case .invert: .color(\.inversion, .percent(to: 100), "0 to 100")
        case .blur: .value(\.options.operations.blur, .deviation(30...10_000), "0.3 to 100 CSS pixels")
        case .sharpen: .value(\.options.operations.sharpen, .deviation(30...1_000), "0.3 to 10 CSS pixels")
        case .pixelate:
            .value(
                \.options.operations.pixelate, .whole("PIXELS", from: 1, to: 256), "side of a block, 2 to 256")
        case .pad:
            .value(\.options.operations.pad, .margins, "space around the result, one to four lengths as in CSS")
        case .radius: .value(\.options.operations.radius, .radius, "round corners")
        case .mask: .optional(\.options.operations.mask, .choice, "the shape that stays")
        case .background:
            .optional(
                \.options.background, .color, "rgb, rrggbb, rrggbbaa, rgb() or a CSS name, behind what is transparent")
        case .format:
            .value(\.format, .format, "format of the result", in: [.renditions, .presets, .besidePresets])
        case .quality: .quality("auto: the lowest quality that looks the same", alias: "quality")
        case .maximumBytes:
            .optional(
                \.options.maximumBytes, .whole("BYTES", from: 256, to: nil, largest: 999_999_999_999),
                "most bytes of the result, from 256")
        case .avifBitDepth:
            .optional(
                \.options.avifBitDepth, .oneOf(ImageFormat.avif.bitDepths), "bits of a component in avif, 8 or 10")
        case .gamut: .optional(\.options.gamut, .choice, "the colors that are shown; auto: p3 if the image has such")
        case .keepCopyright: .value(\.options.keepsCopyright, .flag, "1: keep the Exif copyright and artist")
        case .hdr: .value(\.options.gainMap, .choice, "keep: a jpeg answer keeps the source's gain map")
        case .page:
            .optional(\.page, .whole("NUMBER", from: 0, to: nil), "the page or frame to show, from 0")
        case .animated: .value(\.options.isAnimated, .flag, "1: keep all frames")
        case .watermark: .watermark("an image to lay over the result, or its name in the settings file")
        case .watermarkPosition: .ofWatermark(\.position, .place, "where the watermark lies")
        case .watermarkX: .ofWatermark(\.x, .distance(to: 16_384), "inwards from that place, -16384 to 16384")
        case .watermarkY: .ofWatermark(\.y, .distance(to: 16_384), "inwards from that place, -16384 to 16384")
        case .watermarkOpacity: .ofWatermark(\.opacity, .whole("PERCENT", from: 1, to: 100), "1 to 100")
        case .watermarkScale:
            .ofWatermark(
                \.scale, .fraction("SHARE", decimals: 4, in: 100...10_000, "0.01 to 1 with at most four"),
                "its width as a share of the result's, 0.01 to 1")
        case .watermarkTile: .ofWatermark(\.isTiled, .flag, "1: repeat the watermark all over")
        case .preset: .presets("presets of the settings file, with commas between them")
        case .placeholder: .optional(\.placeholder, .color, "sent if the source fails", in: .presets)
        case .tag:
            .value(
                \.tags, .tags, "names under which the source can be purged, with commas between them",
                in: [.renditions, .presets, .besidePresets])
        case .expires:
            .optional(\.expires, .expiry, "Unix seconds at which the URL expires", in: .besidePresets)
        case .signature: .signature("the signature")
        }
    }

    static let rows = allCases.map { (name: $0.rawValue, row: $0.row) }

    private static let named = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { parameter in
            ([parameter.rawValue] + parameter.row.aliases).map { (ExactText($0), (parameter, parameter.row)) }
        })

    static let names = rows.flatMap { [$0.name] + $0.row.aliases }

    /// Returns the parameter with this name or alias, and its row; nil if there is none.
    static func named(_ name: String) -> (parameter: ThumbnailParameter, row: ThumbnailParameterRow)? {
        named[ExactText(name)]
    }

    static let namesOutsideRenditions = rows.filter { !$0.row.uses.contains(.renditions) }.map(\.name)
}
