import Recipes
import ThumbnailTypes

struct WsrvRecipe: RenderRecipe {
    let options: WsrvOptions

    init(_ options: WsrvOptions) { self.options = options }

    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        let header = source.header
        let (number, frames) = try pages(of: header)
        let page = header.page(number)
        let trim = trim(of: page, frames: frames)
        let stored = PixelSize(width: page.storedSize.width, height: page.storedSize.height * frames)
        let start = PlannedImage(source, page: number, isTrimmed: trim != nil)
        var image = WsrvPlanBuilder(options, of: start, stored: stored, frames: frames).image
        if frames == 1, let degrees = options.freeRotation {
            image.apply(RotationStep(degrees: degrees, corners: options.cornerColor ?? .transparent))
        }
        options.changeColors(of: &image)
        options.mask(&image)

        let format = format(of: source, hasAlpha: image.hasAlpha || mayHaveBars(source), isMoving: frames > 1)
        if image.hasAlpha, !format.supportsAlpha { image.apply(BackgroundStep(.black)) }

        var draft = image.draft(as: format, quality: quality(of: format, by: source.rules))
        if hasDefaultQuality { draft.qualityScale = .visual }
        draft.isLossless = isLossless(format) && source.limits.allow(image.size, in: format, isLossless: true)
        draft.frames = frames
        draft.stacksFrames = true
        draft.timing = timing(frames: frames)
        draft.trim = trim
        draft.isDataURL = options.isInBase64 && options.output != .facts
        return draft
    }

    var keyText: String { "wsrv \(options.keyText)" }

    /// Returns the pages to decode; formats with a single page ignore the option.
    private func pages(of header: ImageHeader) throws(ImagingError) -> (first: Int, count: Int) {
        switch header.format {
        case .webp, .gif, .tiff, .avif, .heic: break
        default: return (0, 1)
        }
        let first =
            switch options.page {
            case -1: extremePage(of: header) { $0 > $1 }
            case -2: extremePage(of: header) { $0 < $1 }
            case let page?: (0...100_000).contains(page) ? page : 0
            case nil: 0
            }
        guard first < header.frames else { throw .noSuchPage(first, pages: header.frames) }
        let requested = options.pages ?? 1
        let count = requested == -1 ? header.frames - first : max(1, requested)
        guard count <= header.frames - first else { throw .noSuchPage(first + count - 1, pages: header.frames) }
        return (first, count)
    }

    private func extremePage(of header: ImageHeader, _ isBetter: (Int, Int) -> Bool) -> Int {
        var best = 0
        var area = header.page(0).storedSize.area
        for number in header.pages.indices.dropFirst() where isBetter(header.pages[number].storedSize.area, area) {
            best = number
            area = header.pages[number].storedSize.area
        }
        return best
    }

    private func timing(frames: Int) -> FrameTiming? {
        var delays = (options.delays ?? []).contains { $0 < 0 } ? [] : Array((options.delays ?? []).prefix(frames))
        if options.delays?.count == 1, let delay = delays.first { delays = Array(repeating: delay, count: frames) }
        let loop = options.loops.flatMap { $0 >= 0 ? $0 : nil }
        return delays.isEmpty && loop == nil ? nil : FrameTiming(delays: delays, loop: loop)
    }

    /// Returns the trim, which ignores single pixels; animations keep their border.
    private func trim(of page: ImageHeader, frames: Int) -> ImageOperations.Trim? {
        guard frames == 1, min(page.size.width, page.size.height) >= 3, let tolerance = options.trimTolerance else {
            return nil
        }
        var trim = ImageOperations.Trim(tolerance: tolerance)
        trim.matte = .black
        return trim
    }

    private func mayHaveBars(_ source: RecipeSource) -> Bool {
        options.trimTolerance != nil && options.fit == .contain && (options.barColor?.alpha ?? 0) < 255
            && (options.background?.alpha ?? 0) < 255
    }

    private func format(of source: RecipeSource, hasAlpha: Bool, isMoving: Bool) -> ImageFormat {
        if case .format(let format) = options.output { return format }
        let hasAlpha = hasAlpha || options.effectiveMask != nil
        let sourceFormat: ImageFormat =
            switch source.header.format {
            case .jpeg, .tiff, .raw: hasAlpha ? .png : .jpeg
            case .webp, .gif: source.header.format
            case .avif, .heic: .avif
            case .png, .svg, .bmp, .ico, .jxl: .png
            }
        return source.firstSupported(of: [sourceFormat], hasAlpha: hasAlpha, isMoving: isMoving)
    }

    private func isLossless(_ format: ImageFormat) -> Bool { options.isLossless == true && format == .webp }

    /// Returns the quality; 100 applies to lossless results that are too large to be lossless.
    private func quality(of format: ImageFormat, by rules: RenderingRules) -> EncodingQuality {
        if isLossless(format) { return .fixed(100) }
        return .fixed(hasDefaultQuality ? rules.defaultQuality(options.effectiveQuality) : options.effectiveQuality)
    }
}

extension WsrvRecipe: SizedRecipe {
    var hasDefaultQuality: Bool { options.namedQuality == nil }

    func allowed(by policy: SizePolicy, choices: ClientChoices) throws(APIError) -> WsrvRecipe {
        var options = options
        if let quality = options.namedQuality { options.quality = try policy.quality(quality) }
        let box = RequestedBox(
            width: try side(options.width, named: "w", within: policy),
            height: try side(options.height, named: "h", within: policy))
        let allowed = try policy.allowed(box, choices: choices)
        if allowed != box || options.hasShares {
            options.width = allowed.width.map { .pixels($0) }
            options.height = allowed.height.map { .pixels($0) }
            options.ratio = nil
        }
        return WsrvRecipe(options)
    }

    /// Returns the side in pixels; a fraction of the source counts as the largest side, because it can be any.
    private func side(_ length: WsrvLength?, named name: String, within policy: SizePolicy) throws(APIError) -> Int? {
        if case .share? = length, let largest = policy.sizes.last {
            guard policy.rule == .up else { throw policy.rejection(name) }
            return largest
        }
        let side = WsrvOptions(width: length, ratio: options.ratio).box(for: PixelSize(width: 1, height: 1)).width
        return side > 0 ? side : nil
    }
}

extension WsrvOptions {
    fileprivate var hasShares: Bool { [width, height].contains { if case .share? = $0 { true } else { false } } }
}
