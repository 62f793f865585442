import Crypto
import Recipes
import Text
import ThumbnailTypes

struct ImgproxyOptionReader {
    private(set) var image: ImgproxyOptions
    private(set) var fileName = ""
    private(set) var isAttachment: Bool
    private(set) var maximumSourceBytes: Int?
    private(set) var expires: Int?
    private(set) var ignored: [String] = []
    /// The options that the target sets, as opposed to presets.
    private(set) var choices = ClientChoices.all

    private let configuration: ImgproxyConfiguration
    private let presets: ImgproxyPresets
    private var count = 0

    private static let maximumOptions = 512
    private static let integers = 0...1_000_000_000
    private static let byteCounts = 0...1_000_000_000_000_000

    init(_ configuration: ImgproxyConfiguration, presets: ImgproxyPresets) {
        self.configuration = configuration
        self.presets = presets
        image = ImgproxyOptions(configuration.defaults)
        isAttachment = configuration.returnsAttachments
    }

    mutating func apply(presets names: [ExactText], inside outer: [ExactText] = []) throws(APIError) {
        for name in names {
            guard let options = presets[name] else { throw .badParameter("preset", "Unknown preset.") }
            guard !outer.contains(name) else { continue }
            for option in options { try apply(option, inside: outer + [name]) }
        }
    }

    mutating func apply(format name: String) throws(APIError) {
        image.format = try ImgproxyFormat(named: name, in: "format")
    }

    mutating func apply(_ option: ImgproxyOption, inside outer: [ExactText] = []) throws(APIError) {
        count += 1
        let name = option.name
        guard count <= Self.maximumOptions else { throw .badParameter("preset", "Too many options.") }
        guard name != "preset", name != "pr" else {
            let names = option.arguments.map { ExactText(String(decoding: $0, as: UTF8.self)) }
            return try apply(presets: names, inside: outer)
        }
        let before = image
        try applyToImage(option)
        let changed = image.choices(differingFrom: before)
        if outer.isEmpty { choices.formUnion(changed) } else { choices.subtract(changed) }
    }

    private mutating func applyToImage(_ option: ImgproxyOption) throws(APIError) {
        switch option.name {
        case "resize", "rs": try readResize(ImgproxyArguments(option, maximum: 8))
        case "size", "s": try readSize(ImgproxyArguments(option, maximum: 7), from: 0)
        case "resizing_type", "rt": try readType(ImgproxyArguments(option, maximum: 1))
        case "width", "w": image.width = try integer(option)
        case "height", "h": image.height = try integer(option)
        case "min-width", "mw": image.minimumWidth = try integer(option)
        case "min-height", "mh": image.minimumHeight = try integer(option)
        case "zoom", "z":
            let arguments = try ImgproxyArguments(option, maximum: 2)
            image.zoomX = try arguments.factor(0)
            image.zoomY = arguments.count > 1 ? try arguments.factor(1) : image.zoomX
        case "dpr": image.ratio = try ImgproxyArguments(option, maximum: 1).factor(0)
        case "enlarge", "el": image.enlarges = try flag(option)
        case "extend", "ex": try readExtension(ImgproxyArguments(option, maximum: 4), from: 0, into: \.extend)
        case "extend_aspect_ratio", "extend_ar", "exar":
            try readExtension(ImgproxyArguments(option, maximum: 4), from: 0, into: \.extendRatio)
        case "gravity", "g":
            try readGravity(ImgproxyArguments(option, maximum: .max), from: 0, of: .crop, into: \.gravity)
        case "crop", "c": try readCrop(ImgproxyArguments(option, maximum: .max))
        case "trim", "t": try readTrim(ImgproxyArguments(option, maximum: 4))
        case "padding", "pd": try readPadding(ImgproxyArguments(option, maximum: 4))
        case "auto_rotate", "ar": image.turnsUpright = try flag(option)
        case "rotate", "rot": try readRotation(ImgproxyArguments(option, maximum: 1))
        case "flip", "fl":
            let arguments = try ImgproxyArguments(option, maximum: 2)
            if arguments.has(0) { image.mirrorsX = arguments.flag(0) }
            if arguments.has(1) { image.mirrorsY = arguments.flag(1) }
        case "background", "bg": try readBackground(ImgproxyArguments(option, maximum: 3))
        case "blur", "bl": image.blur = try number(option)
        case "sharpen", "sh": image.sharpen = try number(option)
        case "pixelate", "pix": image.pixelate = try integer(option)
        case "watermark", "wm": try readWatermark(option)
        default: try applyOther(option)
        }
    }

    private mutating func applyOther(_ option: ImgproxyOption) throws(APIError) {
        switch option.name {
        case "strip_metadata", "sm":
            image.stripsMetadata = try flag(option)
            if !image.stripsMetadata { ignore(option) }
        case "keep_copyright", "kcr": image.keepsCopyright = try flag(option)
        case "strip_color_profile", "scp": image.gamut = try flag(option) ? .srgb : .auto
        case "preserve_hdr", "ph", "enforce_thumbnail", "eth": if try flag(option) { ignore(option) }
        case "quality", "q": image.quality = try integer(option, in: 0...100)
        case "format_quality", "fq": try readQualities(ImgproxyArguments(option, maximum: .max))
        case "max_bytes", "mb": image.maximumBytes = try integer(option, in: Self.byteCounts)
        case "format", "f", "ext": image.format = try ImgproxyArguments(option, maximum: 1).format(0)
        case "skip_processing", "skp":
            let arguments = try ImgproxyArguments(option, maximum: .max)
            for index in 0..<arguments.count { image.skippedFormats.insert(try arguments.format(index)) }
        case "raw": image.isRaw = try flag(option)
        case "cachebuster", "cb": _ = try ImgproxyArguments(option, maximum: 1)
        case "expires", "exp":
            let seconds = try ImgproxyArguments(option, maximum: 1).integer(0, in: -Self.latest...Self.latest)
            expires = seconds > 0 ? seconds : nil
        case "filename", "fn": try readFileName(ImgproxyArguments(option, maximum: 2))
        case "return_attachment", "att": isAttachment = try flag(option)
        case "max_src_resolution", "msr": image.maximumSourcePixels = try megapixels(option)
        case "max_src_file_size", "msfs":
            let bytes = try limit(option).integer(0, in: Self.byteCounts)
            maximumSourceBytes = bytes > 0 ? bytes : nil
        case "max_animation_frames", "maf": image.maximumFrames = try limit(option).integer(0, in: 1...1_000_000_000)
        case "max_animation_frame_resolution", "mafr": image.maximumFramePixels = try megapixels(option)
        case "max_result_dimension", "mrd": image.maximumSide = try limit(option).integer(0, in: Self.integers)
        default:
            if ImgproxyPaidOptions.names.contains(ExactText(option.name)) {
                throw .unsupportedOption(option.quotedName, "This option needs imgproxy Pro and is not supported.")
            }
            throw .badParameter(option.quotedName, "Unknown option.")
        }
    }

    private mutating func ignore(_ option: ImgproxyOption) {
        let arguments = option.arguments.map { String(decoding: $0, as: UTF8.self) }
        ignored.append(([option.name] + arguments).joined(separator: configuration.argumentsSeparator))
    }

    private static let latest = 1_000_000_000_000_000
}

extension ImgproxyOptionReader {
    private func integer(_ option: ImgproxyOption, in range: ClosedRange<Int> = Self.integers) throws(APIError) -> Int {
        try ImgproxyArguments(option, maximum: 1).integer(0, in: range)
    }

    private func number(_ option: ImgproxyOption) throws(APIError) -> Double {
        try ImgproxyArguments(option, maximum: 1).number(0, in: 0...ImgproxyArguments.largest)
    }

    private func flag(_ option: ImgproxyOption) throws(APIError) -> Bool {
        try ImgproxyArguments(option, maximum: 1).flag(0)
    }

    private func limit(_ option: ImgproxyOption) throws(APIError) -> ImgproxyArguments {
        let limit = try ImgproxyArguments(option, maximum: 1)
        guard configuration.allowsSecurityOptions else { throw limit.fault("Requires ALLOW_SECURITY_OPTIONS.") }
        return limit
    }

    private func megapixels(_ option: ImgproxyOption) throws(APIError) -> Int {
        Int(try limit(option).number(0, in: 0...ImgproxyArguments.largest) * 1_000_000)
    }

    private mutating func readResize(_ arguments: ImgproxyArguments) throws(APIError) {
        if arguments.has(0) { try readType(arguments) }
        try readSize(arguments, from: 1)
    }

    private mutating func readType(_ arguments: ImgproxyArguments) throws(APIError) {
        image.resizingType = try arguments.choice(0)
    }

    private mutating func readSize(_ arguments: ImgproxyArguments, from start: Int) throws(APIError) {
        if arguments.has(start) { image.width = try arguments.integer(start, in: Self.integers) }
        if arguments.has(start + 1) { image.height = try arguments.integer(start + 1, in: Self.integers) }
        if arguments.has(start + 2) { image.enlarges = arguments.flag(start + 2) }
        if arguments.has(start + 3) { try readExtension(arguments, from: start + 3, into: \.extend) }
    }

    private mutating func readExtension(
        _ arguments: ImgproxyArguments, from start: Int,
        into path: WritableKeyPath<ImgproxyOptions, ImgproxyOptions.Extension>
    ) throws(APIError) {
        image[keyPath: path].isOn = arguments.flag(start)
        guard arguments.count > start + 1 else { return }
        try readGravity(arguments, from: start + 1, of: .canvas, into: path.appending(path: \.gravity))
    }

    /// A later position keeps the offsets of an earlier one, unless it has its own.
    private mutating func readGravity(
        _ arguments: ImgproxyArguments, from start: Int, of kinds: Set<ImgproxyGravity.Kind>,
        into path: WritableKeyPath<ImgproxyOptions, ImgproxyGravity>
    ) throws(APIError) {
        var gravity = image[keyPath: path]
        if configuration.findsFaces, kinds.contains(.smart), arguments.namesFaces(from: start) {
            gravity = ImgproxyGravity(kind: .faces)
            image[keyPath: path] = gravity
            return
        }
        let kind = try arguments.kind(start, of: kinds)
        let count = arguments.count - start
        gravity.kind = kind
        switch kind {
        case .smart:
            guard count == 1 else { throw arguments.fault("sm has no distances.") }
            gravity.x = 0
            gravity.y = 0
        case .focus where count != 3: throw arguments.fault("fp has two coordinates.")
        default:
            guard count <= 3 else { throw arguments.fault("Gravity takes at most two offsets.") }
            let range = kind == .focus ? 0...1 : -ImgproxyArguments.largest...ImgproxyArguments.largest
            if arguments.has(start + 1) { gravity.x = try arguments.number(start + 1, in: range) }
            if arguments.has(start + 2) { gravity.y = try arguments.number(start + 2, in: range) }
        }
        image[keyPath: path] = gravity
    }

    private mutating func readCrop(_ arguments: ImgproxyArguments) throws(APIError) {
        let range = 0...ImgproxyArguments.largest
        image.cropWidth = try arguments.number(0, in: range)
        if arguments.count > 1 { image.cropHeight = try arguments.number(1, in: range) }
        if arguments.count > 2 { try readGravity(arguments, from: 2, of: .crop, into: \.cropGravity) }
    }

    private mutating func readTrim(_ arguments: ImgproxyArguments) throws(APIError) {
        let range = -ImgproxyArguments.largest...ImgproxyArguments.largest
        image.trim.threshold = arguments.has(0) ? try arguments.number(0, in: range) : nil
        image.trim.color = arguments.has(1) ? try arguments.color(1) : nil
        if arguments.has(2) { image.trim.isEqualAcross = arguments.flag(2) }
        if arguments.has(3) { image.trim.isEqualDown = arguments.flag(3) }
    }

    /// Reads the padding; missing sides default as in CSS.
    private mutating func readPadding(_ arguments: ImgproxyArguments) throws(APIError) {
        var padding = image.padding
        if arguments.has(0) { padding.top = try arguments.integer(0, in: Self.integers) }
        padding.right = arguments.has(1) ? try arguments.integer(1, in: Self.integers) : padding.top
        padding.bottom = arguments.has(2) ? try arguments.integer(2, in: Self.integers) : padding.top
        padding.left = arguments.has(3) ? try arguments.integer(3, in: Self.integers) : padding.right
        image.padding = padding
    }

    private mutating func readRotation(_ arguments: ImgproxyArguments) throws(APIError) {
        let degrees = try arguments.integer(0, in: -1_000_000_000...1_000_000_000)
        guard degrees.isMultiple(of: 90) else { throw arguments.fault("Must be a multiple of 90.") }
        image.quarters = degrees / 90 & 3
    }

    private mutating func readBackground(_ arguments: ImgproxyArguments) throws(APIError) {
        switch arguments.count {
        case 1: image.background = arguments.has(0) ? try arguments.color(0) : nil
        case 3:
            var components: [UInt8] = []
            for index in 0..<3 { components.append(UInt8(try arguments.integer(index, in: 0...255))) }
            image.background = Color(red: components[0], green: components[1], blue: components[2])
        default: throw arguments.fault("Must be a color such as ffaa00 or 255:170:0.")
        }
    }

    private mutating func readWatermark(_ option: ImgproxyOption) throws(APIError) {
        let arguments = try ImgproxyArguments(option, maximum: 7)
        let range = -ImgproxyArguments.largest...ImgproxyArguments.largest
        image.watermark.opacity = try arguments.number(0, in: 0...1)
        if arguments.has(1) { image.watermark.gravity.kind = try arguments.kind(1, of: .watermark) }
        if arguments.has(2) { image.watermark.gravity.x = try arguments.number(2, in: range) }
        if arguments.has(3) { image.watermark.gravity.y = try arguments.number(3, in: range) }
        if arguments.has(4) { image.watermark.scale = try arguments.factor(4) }
        if image.watermark.opacity > 0, configuration.watermark == nil { ignore(option) }
    }

    /// Reads pairs of a format and its quality; 0 resets to the default.
    private mutating func readQualities(_ arguments: ImgproxyArguments) throws(APIError) {
        guard arguments.count.isMultiple(of: 2) else { throw arguments.fault("A format lacks its quality.") }
        for index in stride(from: 0, to: arguments.count, by: 2) {
            let format = try arguments.format(index)
            let quality = try arguments.integer(index + 1, in: 0...100)
            image.formatQualities[format] = quality > 0 ? quality : configuration.defaults.formatQualities[format]
        }
    }

    private mutating func readFileName(_ arguments: ImgproxyArguments) throws(APIError) {
        fileName = arguments.text(0)
        guard arguments.has(1), arguments.flag(1) else { return }
        guard let bytes = Base64URL.decode(ImgproxySource.withoutPadding(fileName)),
            let name = String(validating: bytes, as: UTF8.self)
        else { throw arguments.fault("Must be base64 of the URL alphabet.") }
        fileName = name
    }
}

enum ImgproxyPaidOptions {
    static let names: Set<ExactText> = [
        "resizing_algorithm", "ra", "objects_position", "obj_pos", "op", "crop_aspect_ratio", "crop_ar", "car",
        "background_alpha", "bga", "adjust", "a", "brightness", "br", "contrast", "co", "saturation", "sa",
        "monochrome", "mc", "duotone", "dt", "unsharp_masking", "ush", "blur_areas", "ba", "progressive_blur", "pbl",
        "blur_detections", "bd", "draw_detections", "dd", "crop_objects", "colorize", "col", "gradient", "gr",
        "watermark_url", "wmu", "watermark_text", "wmt", "watermark_size", "wms", "watermark_rotate", "wm_rot", "wmr",
        "watermark_shadow", "wmsh", "style", "st", "dpi", "color_profile", "cp", "icc", "autoquality", "aq",
        "jpeg_options", "jpgo", "png_options", "pngo", "webp_options", "webpo", "avif_options", "avifo", "page", "pg",
        "pages", "pgs", "disable_animation", "da", "video_thumbnail_second", "vts", "video_thumbnail_keyframes", "vtk",
        "video_thumbnail_tile", "vtt", "video_thumbnail_animation", "vta", "fallback_image_url", "fiu",
        "bypass_cache", "bc", "cache_tags", "ct", "hashsum", "hs",
    ]
}
