import Crypto
import Imaging
import Text
import ThumbnailPipeline

/// The grammar of `/thumbnail` targets: writing and reading are inverse to each other.
package enum ThumbnailTarget {
    /// The path of the route.
    package static let path = "/thumbnail"

    /// Reads the query of a raw target.
    ///
    /// Only the form of a signature is judged here; ``URLSigner`` judges whether it is valid.
    ///
    /// - Parameters:
    ///   - target: The request target as received.
    ///   - accept: The request's `Accept`, which counts if the target does not fix the format.
    ///   - vocabulary: The watermarks and presets that the target may name.
    /// - Throws: ``APIError`` for the first thing that is wrong, in the order of the query.
    package static func parse(
        _ target: String, accept: String?, vocabulary: Vocabulary = Vocabulary()
    ) throws(APIError) -> ThumbnailQuery {
        let query = RawQuery(target: target)
        let items = try query.decoded()
        func read(over levels: [Vocabulary.Preset]) throws(APIError) -> ThumbnailQueryReader {
            var reader = ThumbnailQueryReader(vocabulary)
            for level in levels {
                for (name, value) in level { try reader.read(name: name, value: value, isLast: false) }
                reader.override()
            }
            for (index, item) in items.enumerated() {
                try vocabulary.admit(item.name)
                do throws(APIError) {
                    try reader.read(name: item.name, value: item.value, isLast: index == items.count - 1)
                } catch {
                    throw query.explained(error, of: index)
                }
            }
            return reader
        }
        var reader = try read(over: [])
        let levels = vocabulary.levels(below: reader.presets)
        if !levels.isEmpty { reader = try read(over: levels) }
        return try reader.finish(accept: accept)
    }

    /// Writes a target that reads back as `query`: main names, one order, defaults left out; nil for a query of another
    /// grammar.
    ///
    /// The formats that a negotiated request accepts are not written, because they stand in `Accept`. Nor is the page
    /// of an animated request, which has none.
    package static func generate(_ query: ThumbnailQuery) -> String? {
        guard let options = query.request.ownOptions else { return nil }
        let standard = RenderingOptions()
        var target = "\(path)?url=\(PercentEncoding.encode(query.request.source.string))"
        func append(_ parameter: ThumbnailParameter, _ value: String?) {
            if let value { target += "&\(parameter.rawValue)=\(value)" }
        }
        append(.width, options.width.map(String.init))
        append(.height, options.height.map(String.init))
        append(.fit, options.fit == standard.fit ? nil : options.fit.rawValue)
        append(.enlarge, options.enlarge ? "1" : nil)
        append(
            .devicePixelRatio,
            options.devicePixelRatio == standard.devicePixelRatio
                ? nil : ParameterGrammar.text(thousandths: options.devicePixelRatio))
        if case .focal(let x, let y) = options.gravity {
            append(.gravity, "focal")
            append(.focalX, ParameterGrammar.text(thousandths: x))
            append(.focalY, ParameterGrammar.text(thousandths: y))
        } else if options.gravity != standard.gravity {
            append(.gravity, ParameterGrammar.name(of: options.gravity))
        }
        for (parameter, value) in OperationGrammar.values(of: options.operations) { append(parameter, value) }
        append(.background, options.background.map(ColorGrammar.text))
        if case .fixed(let format) = options.format { append(.format, format.rawValue) }
        append(.quality, options.isQualityAutomatic ? "auto" : options.quality.map(String.init))
        append(.maximumBytes, options.maximumBytes.map(String.init))
        append(.keepCopyright, options.keepsCopyright ? "1" : nil)
        append(.page, options.page == 0 || options.isAnimated ? nil : String(options.page))
        append(.animated, options.isAnimated ? "1" : nil)
        if let watermark = query.request.watermark { WatermarkReader.append(watermark, append) }
        append(.placeholder, query.placeholder.map { ColorGrammar.text($0.color) })
        append(.expires, query.expires.map(String.init))
        return target
    }
}

/// A parameter of `/thumbnail`, by its main name.
enum ThumbnailParameter: String, CaseIterable {
    case url
    case width = "w"
    case height = "h"
    case fit
    case enlarge
    case devicePixelRatio = "dpr"
    case gravity
    case focalX = "fx"
    case focalY = "fy"
    case trim
    case trimColor
    case crop
    case rotate
    case flip
    case brightness
    case contrast
    case saturate
    case hue
    case grayscale
    case sepia
    case invert
    case blur
    case sharpen
    case pixelate
    case pad
    case radius
    case mask
    case background
    case format
    case quality = "q"
    case maximumBytes = "maxBytes"
    case keepCopyright
    case page
    case animated
    case watermark
    case watermarkPosition
    case watermarkX
    case watermarkY
    case watermarkOpacity
    case watermarkScale
    case watermarkTile
    case preset
    case placeholder
    case expires
    case signature = "sig"

    /// The names and aliases of all parameters.
    static let names = allCases.flatMap { [$0.rawValue] + $0.aliases }

    /// The parameter of this name or alias.
    init?(name: String) {
        switch name {
        case "width": self = .width
        case "height": self = .height
        case "quality": self = .quality
        default: self.init(rawValue: name)
        }
    }
}
