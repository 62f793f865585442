import Recipes
import Text
import ThumbnailTypes

struct ThumbnailParameterValues: Sendable {
    var vocabulary = Vocabulary()
    var source: String?
    var options = RenderingOptions()
    var isWidthAutomatic = false
    var isRatioAutomatic = false
    var isFocal = false
    var focalX: Int?
    var focalY: Int?
    var trimColor: Color?
    var format: ImageFormat?
    var page: Int?
    var watermark = WatermarkParameters()
    var presets: [ExactText] = []
    var placeholder: Color?
    var tags: [ExactText] = []
    var expires: Int?

    init(_ vocabulary: Vocabulary = Vocabulary()) { self.vocabulary = vocabulary }

    init?(of request: Request) {
        guard let options = request.nativeOptions else { return nil }
        self.options = options
        source = request.source.string
        if case .focal(let x, let y) = options.gravity {
            isFocal = true
            focalX = x
            focalY = y
        }
        trimColor = options.operations.trim?.color
        if case .fixed(let fixed) = options.format { format = fixed }
        if options.page > 0, !options.isAnimated { page = options.page }
        if let watermark = options.watermark,
            let source = request.additional.first(where: { $0.role == .watermark })?.source
        {
            self.watermark = WatermarkParameters(source, options: watermark)
        }
        placeholder = request.placeholder?.color
        tags = request.tags
        expires = request.expires
    }

    /// Returns the request; `accept` selects the format if none is fixed, `hints` the automatic sizes.
    func request(accept: String?, hints: ClientHints) throws(APIError) -> Request {
        guard let source else { throw .missingParameter("url") }
        var options = options
        var hintFields: HintFields = []
        if isWidthAutomatic { hintFields.formUnion(.widths) }
        if isRatioAutomatic { hintFields.formUnion(.ratios) }
        let read = hints.only(hintFields)
        try setAutomaticSizes(of: &options, by: read)
        if isFocal {
            guard let focalX else { throw .missingParameter("fx") }
            guard let focalY else { throw .missingParameter("fy") }
            options.gravity = .focal(x: focalX, y: focalY)
        } else if focalX != nil || focalY != nil {
            throw .badParameter(focalX != nil ? "fx" : "fy", "Requires gravity=focal.")
        }
        if options.gravity == .face {
            guard vocabulary.findsFaces else { throw .withoutFaces("gravity") }
            guard options.fit == .cover else { throw .badParameter("gravity", "face needs fit=cover.") }
        }
        if let trimColor {
            guard options.operations.trim != nil else { throw .badParameter("trimColor", "Requires trim.") }
            options.operations.trim?.color = trimColor
        }
        if options.isAnimated, options.operations.trim != nil {
            throw .badParameter("trim", "Cannot be combined with animated=1.")
        }
        if options.isAnimated, page != nil { throw .badParameter("page", "Cannot be combined with animated=1.") }
        options.page = page ?? 0
        try checkQuality()
        options.format = format.map { .fixed($0) } ?? .negotiated(AcceptedFormats.qualities(accept))
        let mark = try watermark.watermark()
        options.watermark = mark?.options
        var request = Request(
            source: ExactText(vocabulary.source(source)),
            additional: mark.map { [AdditionalSource(.watermark, source: $0.source)] } ?? [], options: options,
            expires: expires)
        request.tags = tags
        request.placeholder = placeholder.map { Placeholder($0, in: options) }
        request.hintFields = read.fields
        return request
    }

    /// Rounds each side up to an allowed one; a client's width is already in device pixels.
    private func setAutomaticSizes(of options: inout RenderingOptions, by hints: ClientHints) throws(APIError) {
        guard isWidthAutomatic || isRatioAutomatic else { return }
        let sizes = vocabulary.sizes
        guard !sizes.sizes.isEmpty else {
            throw .badParameter(isWidthAutomatic ? "w" : "dpr", "auto needs the setting sizes.")
        }
        if isRatioAutomatic { options.devicePixelRatio = hints.ratio ?? 1_000 }
        var box = options.box
        if isWidthAutomatic { box.width = sizes.roundUp(hints.width ?? sizes.automaticWidth) }
        if isRatioAutomatic {
            box = try sizes.allowed(box, choices: [])
            box.width = box.width.map(sizes.roundUp)
            box.height = box.height.map(sizes.roundUp)
        }
        options.set(box)
    }

    /// Checks `q` and `lossless` against the format; a negotiated format may ignore them.
    private func checkQuality() throws(APIError) {
        let hasQuality = format?.hasQuality ?? true
        if options.isLossless {
            guard format?.canBeLossless ?? true else {
                throw .badParameter("lossless", "Requires webp, jxl, png or auto as the format.")
            }
            guard options.quality == nil, !options.isQualityAutomatic else {
                throw .badParameter("q", "Cannot be combined with lossless=1.")
            }
            guard options.maximumBytes == nil else {
                throw .badParameter("maxBytes", "Cannot be combined with lossless=1.")
            }
        }
        if options.maximumBytes != nil {
            guard hasQuality else { throw .badParameter("maxBytes", "Requires a format with a quality setting.") }
            guard !options.isQualityAutomatic else {
                throw .badParameter("maxBytes", "Cannot be combined with q=auto.")
            }
        }
        guard hasQuality || !options.isQualityAutomatic else {
            throw .badParameter("q", "auto needs a format with a quality.")
        }
    }
}

struct WatermarkParameters: Sendable {
    /// The watermark in the settings that the target names, with its defaults.
    var named: Vocabulary.Watermark?
    var position: Gravity?
    var x: Int?
    var y: Int?
    var opacity: Int?
    var scale: Int?
    var isTiled: Bool?
    var firstParameter: String?

    init() {}

    init(_ source: ExactText, options: WatermarkOptions) {
        let defaultValue = WatermarkOptions()
        named = Vocabulary.Watermark(source: source)
        if options.position != defaultValue.position { position = options.position }
        if options.x != defaultValue.x { x = options.x }
        if options.y != defaultValue.y { y = options.y }
        if options.opacity != defaultValue.opacity { opacity = options.opacity }
        scale = options.scale
        if options.isTiled { isTiled = true }
    }

    func watermark() throws(APIError) -> Vocabulary.Watermark? {
        guard let named else {
            if let firstParameter { throw .badParameter(firstParameter, "Requires a watermark.") }
            return nil
        }
        return Vocabulary.Watermark(source: named.source, options: options(over: named.options))
    }

    func options(over defaults: WatermarkOptions) -> WatermarkOptions {
        var options = defaults
        if let position { options.position = position }
        if let x { options.x = x }
        if let y { options.y = y }
        if let opacity { options.opacity = opacity }
        if let scale { options.scale = scale }
        if let isTiled { options.isTiled = isTiled }
        return options
    }
}
