import Recipes
import Text

struct ThumborTarget {
    private(set) var isMeta = false
    private(set) var isDebug = false
    private(set) var geometry = ThumborGeometry()
    private(set) var filters: [ThumborFilterText] = []
    private(set) var source: ArraySlice<UInt8>
    private let text: ThumborText
    /// The options before the image URL, with characters that a target may contain.
    let optionText: String

    static let maximumPixels = 1_000_000

    var decodedSource: String? { text.decoded(source) }

    /// Parses the path after the signature and its slash.
    ///
    /// - Parameter isLayer: Whether the path is a layer of a filter; its sides can depend on the image below.
    init(_ text: ThumborText, isLayer: Bool = false) throws(APIError) {
        let path = text.bytes
        self.text = text
        source = path
        var cursor = ThumborCursor(rest: path)
        if isLayer { _ = cursor.take("unsafe") }
        isDebug = cursor.take("debug")
        isMeta = cursor.take("meta")
        geometry.trim = try cursor.take(Self.trim)
        geometry.crop = try cursor.take(Self.crop)
        geometry.fitIn = try cursor.take(Self.fitIn)
        geometry.isStretched = cursor.take("stretch")
        if let box = try cursor.take({ (text) throws(APIError) in try Self.box(text, isLayer: isLayer) }) {
            geometry.width = box.width
            geometry.isMirroredAcross = box.isMirroredAcross
            geometry.height = box.height
            geometry.isMirroredDown = box.isMirroredDown
        }
        geometry.padding = try cursor.take(Self.padding)
        if let across = try cursor.take({ Self.alignment($0, among: ["left", "center", "right"]) }) {
            geometry.across = across
        }
        if let down = try cursor.take({ Self.alignment($0, among: ["top", "middle", "bottom"]) }) {
            geometry.down = down
        }
        geometry.isSmart = cursor.take("smart")
        if let filterBytes = cursor.takeFilters() {
            guard let decoded = text.decoded(filterBytes) else {
                throw .badParameter("filters", "The filters are not percent-encoded UTF-8.")
            }
            filters = try ThumborFilterText.list(decoded)
        }
        source = cursor.rest.drop { $0 == UInt8(ascii: "/") }
        let options = String(decoding: path[..<source.startIndex], as: UTF8.self)
        optionText = text.isDecoded ? URLEscape.location(options) : options
    }

    static func optionText(_ text: String, with geometry: ThumborGeometry) -> String {
        func side(_ side: ThumborGeometry.Side, isMirrored: Bool) -> String {
            guard case .pixels(let pixels) = side else { return isMirrored ? "-" : "" }
            return (isMirrored ? "-" : "") + String(pixels)
        }
        let box =
            side(geometry.width, isMirrored: geometry.isMirroredAcross) + "x"
            + side(geometry.height, isMirrored: geometry.isMirroredDown)
        var segments = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        let boxIndex = segments.firstIndex { (try? Self.box(Array($0.utf8)[...], isLayer: false)) != nil }
        if let boxIndex { segments[boxIndex] = box } else { segments.insert(box, at: 0) }
        return segments.joined(separator: "/")
    }

    private static func trim(_ text: ArraySlice<UInt8>) -> ThumborGeometry.Trim? {
        var components = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)[...]
        guard let word = components.popFirst(), word.elementsEqual("trim".utf8), components.count <= 2 else {
            return nil
        }
        var trim = ThumborGeometry.Trim()
        if let corner = components.first,
            corner.elementsEqual("top-left".utf8) || corner.elementsEqual("bottom-right".utf8)
        {
            trim.isFromBottomRight = corner.elementsEqual("bottom-right".utf8)
            components.removeFirst()
        }
        if let text = components.popFirst() {
            guard let tolerance = ThumborNumber.whole(text, maximum: .max) else { return nil }
            trim.tolerance = min(max(1, tolerance), 1_000)
        }
        return components.isEmpty ? trim : nil
    }

    private static func crop(_ text: ArraySlice<UInt8>) -> ThumborGeometry.Crop? {
        let corners = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard corners.count == 2, let start = pair(corners[0]), let end = pair(corners[1]) else { return nil }
        return ThumborGeometry.Crop(left: start.0, top: start.1, right: end.0, bottom: end.1)
    }

    private static func pair(_ text: ArraySlice<UInt8>) -> (ThumborGeometry.Length, ThumborGeometry.Length)? {
        let sides = text.split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
        guard sides.count == 2, let first = length(sides[0]), let second = length(sides[1]) else { return nil }
        return (first, second)
    }

    private static func length(_ text: ArraySlice<UInt8>) -> ThumborGeometry.Length? {
        if let pixels = ThumborNumber.whole(text, maximum: .max) { return .pixels(min(pixels, 100_000_000)) }
        guard text.contains(UInt8(ascii: ".")), let share = ThumborNumber.millionths(text), 0...1_000_000 ~= share
        else { return nil }
        return .fraction(share)
    }

    private static func fitIn(_ text: ArraySlice<UInt8>) -> ThumborGeometry.FitIn? {
        var rest = text
        func drop(_ word: String) -> Bool {
            guard rest.starts(with: word.utf8) else { return false }
            rest = rest.dropFirst(word.utf8.count)
            return true
        }
        let isAdaptive = drop("adaptive-")
        let isFull = drop("full-")
        return rest.elementsEqual("fit-in".utf8)
            ? ThumborGeometry.FitIn(isAdaptive: isAdaptive, isFull: isFull) : nil
    }

    private struct Box {
        var width = ThumborGeometry.Side.automatic
        var height = ThumborGeometry.Side.automatic
        var isMirroredAcross = false
        var isMirroredDown = false
    }

    private static func box(_ text: ArraySlice<UInt8>, isLayer: Bool) throws(APIError) -> Box? {
        let sides = text.split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
        guard sides.count == 2, let width = try side(sides[0], isLayer: isLayer),
            let height = try side(sides[1], isLayer: isLayer)
        else { return nil }
        return Box(
            width: width.0, height: height.0, isMirroredAcross: width.isMirrored, isMirroredDown: height.isMirrored)
    }

    private static func side(
        _ text: ArraySlice<UInt8>, isLayer: Bool
    ) throws(APIError) -> (ThumborGeometry.Side, isMirrored: Bool)? {
        let isMirrored = text.first == UInt8(ascii: "-")
        let text = isMirrored ? text.dropFirst() : text
        if text.isEmpty { return (.automatic, isMirrored) }
        if text.elementsEqual("orig".utf8) { return (.original, isMirrored) }
        if let pixels = ThumborNumber.whole(text, maximum: .max) {
            guard pixels <= maximumPixels else {
                throw .badParameter("size", "A side has at most \(maximumPixels) pixels.")
            }
            return (pixels == 0 ? .automatic : .pixels(pixels), isMirrored)
        }
        guard isLayer else { return nil }
        for word in ["full", "f"] where text.starts(with: word.utf8) {
            let rest = text.dropFirst(word.utf8.count)
            if rest.isEmpty { return (.parent(less: 0), isMirrored) }
            guard rest.first == UInt8(ascii: "-"),
                let less = ThumborNumber.whole(rest.dropFirst(), maximum: maximumPixels)
            else { return nil }
            return (.parent(less: less), isMirrored)
        }
        return nil
    }

    private static func padding(_ text: ArraySlice<UInt8>) throws(APIError) -> ThumborGeometry.Padding? {
        let corners = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard 1...2 ~= corners.count else { return nil }
        var numbers: [Int] = []
        for corner in corners {
            let sides = corner.split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
            guard sides.count == 2 else { return nil }
            for side in sides {
                guard let number = ThumborNumber.whole(side, maximum: .max) else { return nil }
                guard number <= maximumPixels else {
                    throw .badParameter("padding", "A side has at most \(maximumPixels) pixels.")
                }
                numbers.append(number)
            }
        }
        return ThumborGeometry.Padding(
            left: numbers[0], top: numbers[1], right: numbers.count > 2 ? numbers[2] : numbers[0],
            bottom: numbers.count > 2 ? numbers[3] : numbers[1])
    }

    private static func alignment(_ text: ArraySlice<UInt8>, among words: [String]) -> ThumborGeometry.Alignment? {
        let alignments: [ThumborGeometry.Alignment] = [.start, .middle, .end]
        return words.firstIndex { text.elementsEqual($0.utf8) }.map { alignments[$0] }
    }
}

private struct ThumborCursor {
    var rest: ArraySlice<UInt8>

    mutating func take(_ word: String) -> Bool {
        guard let segment = next, segment.elementsEqual(word.utf8) else { return false }
        rest = rest[(segment.endIndex + 1)...]
        return true
    }

    mutating func take<Value>(_ read: (ArraySlice<UInt8>) throws(APIError) -> Value?) throws(APIError) -> Value? {
        guard let segment = next, let value = try read(segment) else { return nil }
        rest = rest[(segment.endIndex + 1)...]
        return value
    }

    mutating func takeFilters() -> ArraySlice<UInt8>? {
        let word = "filters:"
        let start = rest.drop { $0 == UInt8(ascii: "/") }
        guard start.starts(with: word.utf8) else { return nil }
        let text = start.dropFirst(word.utf8.count)
        var depth = 0
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: "/") where depth <= 0:
                guard index > text.startIndex, text[index - 1] == UInt8(ascii: ")") else { return nil }
                rest = text[(index + 1)...]
                return text[..<index]
            default: break
            }
        }
        return nil
    }

    /// The next segment up to its slash, ignoring leading slashes.
    private var next: ArraySlice<UInt8>? {
        let start = rest.drop { $0 == UInt8(ascii: "/") }
        return start.firstIndex(of: UInt8(ascii: "/")).map { start[..<$0] }
    }
}
