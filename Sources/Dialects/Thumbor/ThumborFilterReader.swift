import Recipes
import Text
import ThumbnailTypes

/// Reads filters; records unknown and malformed ones, which have no effect.
struct ThumborFilterReader {
    private(set) var options = ThumborOptions()
    private(set) var marks: [ExactText] = []
    private(set) var expires: Int?
    private(set) var form = ResponseForm()
    private(set) var ignored: [String] = []
    private let configuration: ThumborConfiguration

    static let maximumMarks = 8

    private let isMeta: Bool

    init(_ configuration: ThumborConfiguration, isMeta: Bool = false) {
        self.configuration = configuration
        self.isMeta = isMeta
        options.replacesPNG = configuration.replacesPNG
        options.stripsProfile = configuration.stripsProfile
    }

    mutating func read(_ filters: [ThumborFilterText]) throws(APIError) {
        for (index, filter) in filters.enumerated() {
            if isMeta { try Self.checkFact(filter) }
            if ["redact", "redact_oval"].contains(filter.name) {
                // To ignore this filter, even if disabled, would show faces that the client wants to hide.
                throw .unsupportedOption(filter.name, "Alula cannot redact faces.")
            }
            let isDisabled = configuration.disabledFilters.contains(ExactText(filter.name))
            if isDisabled || index >= configuration.maximumFilters ?? .max {
                ignored.append(filter.written)
            } else if try !read(filter) {
                ignored.append(filter.written)
            }
        }
    }

    /// Rejects malformed filters that request facts from imagor, because Alula does not support them.
    private static func checkFact(_ filter: ThumborFilterText) throws(APIError) {
        let arguments = ThumborArguments(filter)
        switch filter.name {
        case "blurhash":
            let components = (0..<2).compactMap { arguments.whole($0) }
            guard arguments.count == 2, components.count == 2, components.allSatisfy({ 1...9 ~= $0 }) else {
                throw .badParameter(filter.name, "Must be two whole numbers from 1 to 9.")
            }
        case "thumbhash", "avgcolor":
            guard arguments.count == 0 else { throw .badParameter(filter.name, "Has no arguments.") }
        default: break
        }
    }

    private mutating func read(_ filter: ThumborFilterText) throws(APIError) -> Bool {
        let arguments = ThumborArguments(filter)
        if readSetting(filter.name, arguments: arguments) || readGeometry(filter.name, arguments: arguments) {
            return true
        }
        if let mark = try self.mark(filter, arguments: arguments) {
            if mark.opacity > 0 { options.filters.append(.mark(mark)) }
            return true
        }
        guard let effect = try ThumborFilter(filter.name, arguments: arguments) else { return false }
        options.filters.append(effect)
        return true
    }
}

extension ThumborFilterReader {
    private mutating func readSetting(_ name: String, arguments: ThumborArguments) -> Bool {
        switch name {
        case "format", "fallback_format":
            guard let format = arguments.text(0).flatMap(Self.format) else { return false }
            if name == "format" { options.format = format } else { options.fallback = format }
        case "quality":
            guard let quality = arguments.whole(0), quality > 0 else { return false }
            options.quality = min(quality, 100)
        case "lossless": options.isLossless = true
        case "max_bytes":
            guard let bytes = arguments.whole(0, maximum: 1_000_000_000), bytes > 0 else { return false }
            options.maximumBytes = bytes
        case "autojpg":
            guard let flag = arguments.count == 0 ? true : arguments.flag(0) else { return false }
            options.replacesPNG = flag
        case "max_age":
            guard let seconds = arguments.whole(0, maximum: 1_000_000_000) else { return false }
            form.maximumAge = seconds
        case "expire":
            guard let milliseconds = arguments.whole(0, maximum: .max) else { return false }
            expires = milliseconds / 1_000
        case "attachment":
            form.isAttachment = true
            if let name = arguments.text(0) { form.fileName = ExactText(name) }
        case "raw": options.isRaw = true
        case "cover": options.frames = 1
        case "max_frames":
            guard let frames = arguments.whole(0), frames > 0 else { return false }
            options.frames = frames
        case "page":
            guard let page = arguments.whole(0), page > 0 else { return false }
            options.page = page - 1
        case "dpi":
            guard let resolution = arguments.whole(0, maximum: 10_000), resolution > 0 else { return false }
            options.resolution = resolution
        // Results never have metadata.
        case "strip_exif", "preview": break
        case "strip_icc", "strip_metadata": options.stripsProfile = true
        case "to_colorspace":
            guard arguments.count == 0 || arguments.text(0)?.asciiLowercased == "srgb" else { return false }
            options.stripsProfile = true
        default: return false
        }
        return true
    }

    private static func format(_ text: String) -> ImageFormat? {
        let name = text.asciiLowercased
        return ImageFormat(name: name).flatMap { $0.isWritten ? $0 : nil }
    }

    private mutating func readGeometry(_ name: String, arguments: ThumborArguments) -> Bool {
        switch name {
        case "no_upscale": options.geometry.isEnlargingForbidden = true
        case "stretch": options.geometry.isStretched = true
        case "focal":
            guard let focus = arguments.text(0).flatMap(Self.focus) else { return false }
            options.geometry.focuses.append(focus)
        case "orient":
            guard let degrees = arguments.whole(0), [90, 180, 270].contains(degrees) else { return false }
            options.geometry.quarters = (360 - degrees) / 90
        case "trim":
            // The image after earlier filters is known only after rendering.
            guard options.filters.isEmpty, arguments.count < 1 || arguments.whole(0) != nil else { return false }
            options.geometry.trim = ThumborGeometry.Trim(
                tolerance: max(1, arguments.whole(0, maximum: 1_000) ?? 1),
                isFromBottomRight: arguments.text(1) == "bottom-right")
        default: return false
        }
        return true
    }

    private static func focus(_ text: String) -> ThumborGeometry.Focus? {
        let numbers = text.utf8.split(omittingEmptySubsequences: false) {
            $0 == UInt8(ascii: "x") || $0 == UInt8(ascii: ":")
        }
        .map { ThumborNumber.millionths($0) }
        let one = 1_000_000
        guard numbers.count == 2 || numbers.count == 4, let left = numbers[0], let top = numbers[1], left >= 0, top >= 0
        else { return nil }
        guard numbers.count == 4 else {
            let isFraction = left < one && top < one
            return ThumborGeometry.Focus(
                left: left, top: top, right: left + (isFraction ? 1 : one), bottom: top + (isFraction ? 1 : one),
                isFraction: isFraction)
        }
        guard let right = numbers[2], let bottom = numbers[3], right > left, bottom > top else { return nil }
        return ThumborGeometry.Focus(
            left: left, top: top, right: right, bottom: bottom,
            isFraction: left < one && top < one && right <= one && bottom <= one)
    }
}

extension ThumborFilterReader {
    private mutating func mark(
        _ filter: ThumborFilterText, arguments: ThumborArguments
    ) throws(APIError) -> ThumborMark? {
        switch filter.name {
        case "watermark": try watermark(arguments)
        case "image": try layer(arguments)
        default: nil
        }
    }

    private mutating func watermark(_ arguments: ThumborArguments) throws(APIError) -> ThumborMark? {
        guard 4...6 ~= arguments.count, let source = arguments.text(0),
            let x = arguments.text(1).flatMap(Self.position),
            let y = arguments.text(2).flatMap(Self.position), let transparency = arguments.whole(3),
            let width = Self.share(arguments, at: 4), let height = Self.share(arguments, at: 5)
        else { return nil }
        var mark = ThumborMark(subject: .source(try index(of: source)))
        mark.x = x
        mark.y = y
        mark.widthShare = width
        mark.heightShare = height
        mark.opacity = Self.opacity(transparency: transparency)
        return mark
    }

    private mutating func layer(_ arguments: ThumborArguments) throws(APIError) -> ThumborMark? {
        guard let path = arguments.text(0) else { return nil }
        let target = try ThumborTarget(ThumborText(bytes: Array(path.utf8)[...], isDecoded: true), isLayer: true)
        let source = String(decoding: target.source, as: UTF8.self)
        var mark: ThumborMark
        if let name = ThumborSource.color(source) {
            mark = ThumborMark(subject: .color(try ThumborFilter.color(name, of: "image")))
        } else {
            mark = ThumborMark(subject: .source(try index(of: source)))
        }
        mark.layer = target.geometry
        mark.x = arguments.text(1).flatMap(Self.position) ?? mark.x
        mark.y = arguments.text(2).flatMap(Self.position) ?? mark.y
        mark.x.isImagorOnly = true
        mark.y.isImagorOnly = true
        mark.opacity = Self.opacity(transparency: arguments.millionths(3).map { $0 / 1_000_000 } ?? 0)
        mark.mode = arguments.text(4).flatMap { BlendMode(rawValue: $0.asciiLowercased) } ?? .normal
        for text in target.filters {
            // A layer with a blend mode would have to be rendered first.
            let canCarryMarks = mark.isPlain && mark.opacity == 100
            if canCarryMarks, let inner = try self.mark(text, arguments: ThumborArguments(text)), inner.isPlain {
                if inner.opacity > 0 { mark.inner.append(inner) }
            } else {
                ignored.append(text.written)
            }
        }
        return mark
    }

    private static func opacity(transparency: Int) -> Int { 100 - min(max(transparency, 0), 100) }

    private mutating func index(of source: String) throws(APIError) -> Int {
        guard marks.count < Self.maximumMarks else {
            throw .badParameter("filters", "At most \(Self.maximumMarks) watermarks and layers are allowed.")
        }
        marks.append(try ThumborSource.source(source, base: configuration.baseURL))
        return marks.count - 1
    }

    private static func share(_ arguments: ThumborArguments, at index: Int) -> Int?? {
        guard arguments.count > index, arguments.text(index) != "none" else { return .some(nil) }
        guard let share = arguments.whole(index, maximum: 10_000) else { return nil }
        return .some(share == 0 ? nil : share)
    }

    static func position(_ text: String) -> ThumborMark.Position? {
        switch text {
        case "center": ThumborMark.Position(anchor: .center)
        case "repeat": ThumborMark.Position(anchor: .repeated)
        case "left", "top": ThumborMark.Position(isImagorOnly: true)
        case "right", "bottom": ThumborMark.Position(anchor: .end, isImagorOnly: true)
        default: distanceFromEdge(text) ?? distance(text)
        }
    }

    /// Reads a distance outward from a named edge, such as `left-20`.
    private static func distanceFromEdge(_ text: String) -> ThumborMark.Position? {
        for word in ["left-", "l-", "top-", "t-", "right-", "r-", "bottom-", "b-"] {
            guard let rest = text.suffix(after: word) else { continue }
            let isFromEnd = word.hasPrefix("r") || word.hasPrefix("b")
            return ThumborNumber.whole(rest.utf8, maximum: 1_000_000).map {
                ThumborMark.Position(
                    anchor: isFromEnd ? .end : .start, distance: isFromEnd ? $0 : -$0, isImagorOnly: true)
            }
        }
        return nil
    }

    /// Reads pixels, percent (`20p`) or a fraction; a minus measures from the right or bottom edge.
    private static func distance(_ text: String) -> ThumborMark.Position? {
        let isFromEnd = text.utf8.first == UInt8(ascii: "-")
        let number = isFromEnd ? text.dropFirst() : text[...]
        let isPercent = number.utf8.last == UInt8(ascii: "p")
        var position = ThumborMark.Position(anchor: isFromEnd ? .end : .start, unit: isPercent ? .percent : .pixels)
        if let distance = ThumborNumber.whole((isPercent ? number.dropLast() : number).utf8, maximum: 1_000_000) {
            position.distance = distance
        } else if !isPercent, let distance = ThumborNumber.millionths(number.utf8), 0..<1_000_000 ~= distance {
            position.distance = distance
            position.unit = .millionths
            position.isImagorOnly = true
        } else {
            return nil
        }
        if isFromEnd { position.distance = -position.distance }
        return position
    }
}
