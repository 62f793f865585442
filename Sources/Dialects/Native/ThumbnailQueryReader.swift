import Imaging
import Text
import ThumbnailPipeline

/// Collects the parameters of a `/thumbnail` target one by one, then judges them together.
struct ThumbnailQueryReader {
    private let vocabulary: Vocabulary
    private var seen: Set<ThumbnailParameter> = []
    /// The parameters that were read since the last call of ``override()``.
    private var seenInLevel: Set<ThumbnailParameter> = []
    private var watermark = WatermarkReader()
    /// The presets that the request names, in its order.
    private(set) var presets: [ExactText] = []
    private var source: String?
    private var options = RenderingOptions()
    private var trimColor: Color?
    private var format: ImageFormat?
    private var isFocal = false
    private var focalX: Int?
    private var focalY: Int?
    private var placeholder: Color?
    private var expires: Int?

    /// A reader of targets that may use the names of `vocabulary`.
    init(_ vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
    }

    /// Begins to read parameters that win over those that were read.
    mutating func override() { seenInLevel = [] }

    /// Reads one parameter, which is percent-decoded.
    mutating func read(name: String, value: String, isLast: Bool) throws(APIError) {
        guard let parameter = ThumbnailParameter(name: name) else {
            throw .unknown(name, among: ThumbnailParameter.names)
        }
        guard seenInLevel.insert(parameter).inserted else {
            throw .repeatedParameter(name)
        }
        seen.insert(parameter)
        switch parameter {
        case .url: source = try ParameterGrammar.source(value)
        case .width: options.width = try side(value, name)
        case .height: options.height = try side(value, name)
        case .fit: options.fit = try ParameterGrammar.choice(value, name)
        case .enlarge: options.enlarge = try ParameterGrammar.flag(value, name)
        case .devicePixelRatio:
            options.devicePixelRatio = try require(
                ParameterGrammar.thousandths(value, in: 500...8_000), name,
                "Must be 0.5 to 8 with at most three decimals.")
        case .gravity:
            isFocal = value == "focal"
            if !isFocal {
                guard let gravity = ParameterGrammar.gravity(value) else {
                    throw .badChoice(name, allowed: ParameterGrammar.gravityNames + ["focal"])
                }
                options.gravity = gravity
            }
        case .focalX: focalX = try fraction(value, name)
        case .focalY: focalY = try fraction(value, name)
        case .trimColor: trimColor = try color(value, name)
        case .trim, .crop, .rotate, .flip, .brightness, .contrast, .saturate, .hue, .grayscale, .sepia, .invert, .blur,
            .sharpen, .pixelate, .pad, .radius, .mask:
            try OperationGrammar.read(parameter, value, name, into: &options.operations)
        case .background: options.background = try color(value, name)
        case .format: format = try ParameterGrammar.format(value, name)
        case .quality: try options.readQuality(value, name: name)
        case .maximumBytes: try options.readMaximumBytes(value, name: name)
        case .keepCopyright: options.keepsCopyright = try ParameterGrammar.flag(value, name)
        case .page:
            options.page = try require(
                ParameterGrammar.integer(value, in: 0...999_999_999), name, "Must be a whole number from 0.")
        case .animated: options.isAnimated = try ParameterGrammar.flag(value, name)
        case .placeholder: placeholder = try color(value, name)
        case .expires: expires = try ParameterGrammar.expires(value, name)
        case .watermark, .watermarkPosition, .watermarkX, .watermarkY, .watermarkOpacity, .watermarkScale,
            .watermarkTile:
            try watermark.read(parameter, value, name, vocabulary)
        case .preset: presets = try vocabulary.presetNames(value, name)
        case .signature: try URLSigner.checkForm(value, name, isLast: isLast)
        }
    }

    /// The query of all parameters; `accept` chooses the format if none fixes it.
    mutating func finish(accept: String?) throws(APIError) -> ThumbnailQuery {
        guard let source else { throw .missingParameter(ThumbnailParameter.url.rawValue) }
        if isFocal {
            guard let focalX else { throw .missingParameter(ThumbnailParameter.focalX.rawValue) }
            guard let focalY else { throw .missingParameter(ThumbnailParameter.focalY.rawValue) }
            options.gravity = .focal(x: focalX, y: focalY)
        } else if focalX != nil || focalY != nil {
            let parameter: ThumbnailParameter = focalX != nil ? .focalX : .focalY
            throw .badParameter(parameter.rawValue, "Needs gravity=focal.")
        }
        if let trimColor {
            guard options.operations.trim != nil else {
                throw .badParameter(ThumbnailParameter.trimColor.rawValue, "Needs trim.")
            }
            options.operations.trim?.color = trimColor
        }
        if options.isAnimated, options.operations.trim != nil {
            throw .badParameter(ThumbnailParameter.trim.rawValue, "The frames of an animation are not trimmed.")
        }
        if options.isAnimated, seen.contains(.page) {
            throw .badParameter(ThumbnailParameter.page.rawValue, "An animated thumbnail shows all pages.")
        }
        try options.checkQuality(format: format)
        options.format = format.map { .fixed($0) } ?? .negotiated(AcceptedFormats.qualities(accept))
        let mark = try watermark.watermark()
        options.watermark = mark?.options
        let request = ThumbnailRequest(
            source: ExactText(source),
            additional: mark.map { [AdditionalSource(.watermark, source: $0.source)] } ?? [], options: options)
        return ThumbnailQuery(
            request: request, placeholder: placeholder.map { Placeholder($0, in: options) }, expires: expires)
    }

    private func side(_ value: String, _ name: String) throws(APIError) -> Int {
        try require(
            ParameterGrammar.integer(value, in: 1...16_384), name, "Must be a whole number from 1 to 16384.")
    }

    private func fraction(_ value: String, _ name: String) throws(APIError) -> Int {
        try require(
            ParameterGrammar.thousandths(value, in: 0...1_000), name, "Must be 0 to 1 with at most three decimals.")
    }

    private func color(_ value: String, _ name: String) throws(APIError) -> Color {
        try require(ColorGrammar.color(value), name, "Not a colour in hexadecimal or by its CSS name.")
    }

    private func require<Value>(_ value: Value?, _ name: String, _ reason: String) throws(APIError) -> Value {
        guard let value else { throw .badParameter(name, reason) }
        return value
    }
}
