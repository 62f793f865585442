/// The sizes of resample, crop and canvas, as defined in docs/operations.md.
struct RenderLayout: Hashable, Sendable {
    enum Side: Sendable {
        case width, height
    }

    var resizedSize: PixelSize
    var cropSize: PixelSize?
    var canvasSize: PixelSize?
    /// The sides that determine the size; the others follow from the aspect ratio.
    var decidingSides: [Side]

    var outputSize: PixelSize { canvasSize ?? cropSize ?? resizedSize }

    /// Computes the layout; a vector image is drawn at the required size and never enlarged.
    ///
    /// The aspect ratio of a vector image uses fractions of a pixel, its size whole pixels.
    init(options: RenderingOptions, of requestedRegion: RequestedRegion, in source: ImageHeader) {
        guard let vectorSize = source.vectorSize else {
            self.init(options: options, source: requestedRegion.size)
            limit(by: options, source: requestedRegion.size)
            return
        }
        var options = options
        options.enlarge = true
        let isProportion = requestedRegion.croppedRegion == nil && (options.width != nil || options.height != nil)
        let size = isProportion ? requestedRegion.turn.turned(vectorSize) : requestedRegion.size
        self.init(options: options, source: size)
        limit(by: options, source: size)
    }

    /// Applies area and multiple: changes the box of `cover` and `contain`, otherwise stretches the image.
    private mutating func limit(by options: RenderingOptions, source: PixelSize) {
        guard options.limitsSize else { return }
        let size = SizeLimits(options, of: outputSize, source: source).size(for: outputSize)
        guard size != outputSize else { return }
        switch options.fit {
        case .inside, .outside, .fill:
            resizedSize = size
            decidingSides = [.width, .height]
        case .cover:
            // Enlarges only if a side is shorter than one multiple.
            self = RenderLayout(box: size, source: source, fit: .cover, enlarge: true)
        case .contain: self = RenderLayout(box: size, source: source, fit: .contain, enlarge: options.enlarge)
        }
    }

    init(options: RenderingOptions, source: PixelSize) {
        let ratio = options.devicePixelRatio
        let width = options.width.map { proportion($0, times: ratio, of: 1_000) }
        let height = options.height.map { proportion($0, times: ratio, of: 1_000) }
        switch (width, height) {
        case (let width?, let height?):
            self.init(
                box: PixelSize(width: width, height: height), source: source, fit: options.fit,
                enlarge: options.enlarge)
        case (let width?, nil):
            let box = PixelSize(width: width, height: proportion(width, times: source.height, of: source.width))
            self.init(free: box, isLarger: width > source.width, source: source, options: options)
            decidingSides = [.width]
        case (nil, let height?):
            let box = PixelSize(width: proportion(height, times: source.width, of: source.height), height: height)
            self.init(free: box, isLarger: height > source.height, source: source, options: options)
            decidingSides = [.height]
        case (nil, nil):
            let box = PixelSize(
                width: proportion(source.width, times: ratio, of: 1_000),
                height: proportion(source.height, times: ratio, of: 1_000))
            self.init(free: box, isLarger: ratio > 1_000, source: source, options: options)
        }
    }

    /// The layout for at most one requested side: the box has the image's aspect ratio, and nothing is cropped.
    private init(free box: PixelSize, isLarger: Bool, source: PixelSize, options: RenderingOptions) {
        let isCapped = isLarger && !options.enlarge
        resizedSize = isCapped ? source : box
        canvasSize = isCapped && options.fit == .contain && box != source ? box : nil
        decidingSides = [source.width >= source.height ? .width : .height]
    }

    private init(box: PixelSize, source: PixelSize, fit: Fit, enlarge: Bool) {
        switch fit {
        case .fill:
            resizedSize =
                enlarge
                ? box : PixelSize(width: min(box.width, source.width), height: min(box.height, source.height))
            decidingSides = [.width, .height]
        case .inside:
            let side = RenderLayout.tighterSide(of: box, around: source)
            resizedSize = RenderLayout.size(of: source, matching: side, of: box, enlarge: enlarge)
            decidingSides = [side]
        case .outside:
            let side: Side = RenderLayout.tighterSide(of: box, around: source) == .width ? .height : .width
            resizedSize = RenderLayout.size(of: source, matching: side, of: box, enlarge: enlarge)
            decidingSides = [side]
        case .contain:
            let side = RenderLayout.tighterSide(of: box, around: source)
            resizedSize = RenderLayout.size(of: source, matching: side, of: box, enlarge: enlarge)
            canvasSize = resizedSize == box ? nil : box
            decidingSides = [side]
        case .cover:
            // Shrinks a box that is larger than the image until the image covers it without enlargement.
            let box = enlarge ? box : RenderLayout.size(of: box, inside: source)
            let side: Side = RenderLayout.tighterSide(of: box, around: source) == .width ? .height : .width
            resizedSize = RenderLayout.size(of: source, matching: side, of: box, enlarge: true)
            cropSize = resizedSize == box ? nil : box
            decidingSides = [.width, .height]
        }
    }

    private static func tighterSide(of box: PixelSize, around source: PixelSize) -> Side {
        box.width * source.height <= box.height * source.width ? .width : .height
    }

    private static func size(of source: PixelSize, matching side: Side, of box: PixelSize, enlarge: Bool) -> PixelSize {
        switch side {
        case .width:
            guard enlarge || box.width < source.width else { return source }
            return PixelSize(width: box.width, height: proportion(source.height, times: box.width, of: source.width))
        case .height:
            guard enlarge || box.height < source.height else { return source }
            return PixelSize(width: proportion(source.width, times: box.height, of: source.height), height: box.height)
        }
    }

    private static func size(of box: PixelSize, inside source: PixelSize) -> PixelSize {
        size(of: box, matching: tighterSide(of: source, around: box), of: source, enlarge: false)
    }
}

/// Multiplies by a fraction; rounds half up, to at least 1.
///
/// Exact integer arithmetic. The caller has limited the sides, so that the product cannot overflow.
func proportion(_ value: Int, times numerator: Int, of denominator: Int) -> Int {
    max(1, (2 * value * numerator + denominator) / (2 * denominator))
}
