import Recipes
import ThumbnailTypes

extension ImgproxyRecipe: SizedRecipe {
    var hasDefaultQuality: Bool {
        !options.isRaw && options.quality == 0 && (options.format?.written?.hasQuality ?? true)
    }

    func allowed(by policy: SizePolicy, choices: ClientChoices) throws(APIError) -> ImgproxyRecipe {
        var options = options
        if choices.contains(.quality), options.quality > 0 { options.quality = try policy.quality(options.quality) }
        if choices.contains(.formatQualities) {
            for (format, quality) in options.formatQualities where quality > 0 {
                guard defaults.formatQualities[format] != quality else { continue }
                options.formatQualities[format] = try policy.quality(quality)
            }
        }
        if !policy.sizes.isEmpty { try options.allowSizes(by: policy, choices: choices, defaults: defaults) }
        return ImgproxyRecipe(options: options, defaults: defaults, accepted: accepted)
    }
}

extension ImgproxyOptions {
    func choices(differingFrom other: ImgproxyOptions) -> ClientChoices {
        var choices: ClientChoices = []
        if width != other.width || minimumWidth != other.minimumWidth { choices.insert(.width) }
        if height != other.height || minimumHeight != other.minimumHeight { choices.insert(.height) }
        if ratio != other.ratio || zoomX != other.zoomX || zoomY != other.zoomY {
            choices.formUnion([.width, .height])
        }
        if quality != other.quality { choices.insert(.quality) }
        if formatQualities != other.formatQualities { choices.insert(.formatQualities) }
        if skippedFormats != other.skippedFormats || isRaw != other.isRaw { choices.insert(.untouchedFormats) }
        return choices
    }

    fileprivate mutating func allowSizes(
        by policy: SizePolicy, choices: ClientChoices, defaults: ImgproxyDefaults
    ) throws(APIError) {
        if choices.contains(.untouchedFormats), isRaw || skippedFormats != defaults.skippedFormats {
            // These options serve images at their original size.
            guard policy.rule == .up else { throw policy.rejection("w") }
            isRaw = false
            skippedFormats = defaults.skippedFormats
        }
        // Here `raw` is the operator's choice, so sizes are not limited.
        if isRaw { return }
        func inPixels(_ side: Int, _ zoom: Double) -> Int? {
            side > 0 ? max(1, pixels(Double(side) * (ratio * zoom))) : nil
        }
        let box = RequestedBox(width: inPixels(width, zoomX), height: inPixels(height, zoomY))
        let minimum = RequestedBox(width: inPixels(minimumWidth, 1), height: inPixels(minimumHeight, 1))
        let allowed = try policy.allowed(box, choices: choices)
        let allowedLeast = minimum == RequestedBox() ? minimum : try policy.allowed(minimum, choices: choices)
        if allowed != box || allowedLeast != minimum { set(allowed, minimum: allowedLeast) }
    }

    /// Sets the box; if no whole number of CSS pixels matches, the device pixel ratio only applies to margins.
    private mutating func set(_ box: RequestedBox, minimum: RequestedBox) {
        func isWhole(_ side: Int?) -> Bool {
            guard let side else { return true }
            return (Double(side) / ratio).rounded() * ratio == Double(side)
        }
        if ![box.width, box.height, minimum.width, minimum.height].allSatisfy(isWhole) {
            func scaled(_ margin: Int) -> Int { pixels(Double(margin) * ratio) }
            padding = ImageOperations.Margins(
                top: scaled(padding.top), right: scaled(padding.right), bottom: scaled(padding.bottom),
                left: scaled(padding.left))
            ratio = 1
        }
        func inCSS(_ side: Int?) -> Int { side.map { Int((Double($0) / ratio).rounded()) } ?? 0 }
        zoomX = 1
        zoomY = 1
        width = inCSS(box.width)
        height = inCSS(box.height)
        minimumWidth = inCSS(minimum.width)
        minimumHeight = inCSS(minimum.height)
    }
}
