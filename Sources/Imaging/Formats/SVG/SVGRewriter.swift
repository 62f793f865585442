import Memory

struct SVGRewriter {
    typealias Embedding = (_ file: SharedBytes, _ maximumPixels: Int) throws -> (file: SharedBytes?, pixels: Int)?

    private(set) var replacements: [SVGReference] = []
    private var pixels = 4_000_000
    /// Each embedded image counts as at least this many pixels, which limits their number.
    private static let minimumPixels = 4_096

    private static let maximum = 10_000
    /// Maximum bytes of a `var()` and of a start tag.
    private static let maximumLength = 4_096

    /// - Parameter pixel: The length of a result pixel, in the unit of the width of a non-scaling stroke.
    init(_ bytes: RawSpan, from start: Int, pixel: Double, embedding: Embedding) throws {
        findFallbacks(bytes, from: start)
        if bytes.contains("non-scaling-stroke", in: start..<bytes.byteCount) {
            findStrokes(bytes, from: start, pixel: pixel)
        }
        try findImages(bytes, from: start, embedding: embedding)
        replacements.sort { $0.range.lowerBound < $1.range.lowerBound }
        var end = 0
        replacements = replacements.filter { replacement in
            defer { end = max(end, replacement.range.upperBound) }
            return replacement.range.lowerBound >= end
        }
    }

    private mutating func replace(_ range: Range<Int>, by text: String) {
        guard replacements.count < Self.maximum else { return }
        replacements.append(SVGReference(range: range, text: text))
    }

    /// Finds references with their fallbacks, in time linear in the text.
    private mutating func findFallbacks(_ bytes: RawSpan, from start: Int) {
        var offset = start
        while let bracket = bytes.firstIndex(of: UInt8(ascii: "("), from: offset) {
            offset = bytes.hasText("var", at: bracket - 3) ? readFallbacks(bytes, from: bracket) : bracket + 1
        }
    }

    /// Reads the fallbacks of the `var` whose bracket opens here; returns where to continue.
    private mutating func readFallbacks(_ bytes: RawSpan, from bracket: Int) -> Int {
        var open: [(bracket: Int, comma: Int?)] = []
        let end = min(bytes.byteCount, bracket + Self.maximumLength)
        for offset in bracket..<end {
            switch unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) {
            case UInt8(ascii: "("): open.append((offset, nil))
            case UInt8(ascii: ",") where open.last?.comma == nil: open[open.count - 1].comma = offset
            case UInt8(ascii: ")"):
                let closed = open.removeLast()
                if let comma = closed.comma, bytes.hasText("var", at: closed.bracket - 3) {
                    replace(closed.bracket - 3..<comma + 1, by: "")
                    replace(offset..<offset + 1, by: "")
                }
                if open.isEmpty { return offset + 1 }
            case UInt8(ascii: "<"), UInt8(ascii: ";"), UInt8(ascii: "}"): return offset
            default: break
            }
        }
        return end
    }

    /// Finds non-scaling strokes whose width is in the same start tag.
    private mutating func findStrokes(_ bytes: RawSpan, from start: Int, pixel: Double) {
        var offset = start
        while let open = bytes.firstIndex(of: UInt8(ascii: "<"), from: offset) {
            guard let end = bytes.firstIndex(of: UInt8(ascii: ">"), from: open) else { return }
            offset = end
            guard end - open < Self.maximumLength, bytes.contains("non-scaling-stroke", in: open..<end),
                let width = bytes.number(after: "stroke-width", in: open..<end)
            else { continue }
            replace(width.range, by: "\(width.value * pixel)")
        }
    }

    /// Other names of formats that files use.
    private static let names = ["jpg": "jpeg", "pjpeg": "jpeg", "x-png": "png"]

    /// Converts embedded images (`data:`) to PNG if librsvg does not read their format.
    private mutating func findImages(_ bytes: RawSpan, from start: Int, embedding: Embedding) throws {
        var offset = start
        while let colon = bytes.firstIndex(of: UInt8(ascii: ":"), from: offset) {
            offset = colon + 1
            guard bytes.hasText("data:image/", at: colon - 4) else { continue }
            let name = colon + 7
            let limit = min(name + 40, bytes.byteCount)
            guard let length = bytes.extracting(name..<limit).firstIndex(of: UInt8(ascii: ";"), from: 0) else {
                continue
            }
            let end = name + length
            let format = bytes.text(name..<end).lowercased()
            if let known = Self.names[format] { replace(name..<end, by: known) }
            let data = end + 8
            guard !["jpeg", "png", "jpg", "pjpeg", "x-png", "svg+xml"].contains(format),
                bytes.hasText(";base64,", at: end), let (file, close) = Base64.decoded(bytes, from: data)
            else { continue }
            offset = close
            let embedded = try embedding(SharedBytes(file), pixels)
            if let embedded { pixels -= max(embedded.pixels, Self.minimumPixels) }
            // Otherwise use an unknown name: newer versions of librsvg would read some of these formats without limits.
            replace(name..<close, by: embedded?.file.map { "png;base64," + Base64.text(of: $0) } ?? "none;base64,")
        }
    }
}

/// Base64 (RFC 4648) as used in SVG.
private enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8] = (0...255).map { byte in
        letters.firstIndex(of: UInt8(byte)).map { UInt8($0) } ?? 255
    }

    /// Decodes up to a quotation mark or bracket; nil for invalid text.
    static func decoded(_ bytes: RawSpan, from start: Int) -> (file: [UInt8], end: Int)? {
        var file: [UInt8] = []
        var bits = 0
        var count = 0
        var offset = start
        while offset < bytes.byteCount {
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            let value = values[Int(byte)]
            if value < 64 {
                bits = (bits << 6 | Int(value)) & 0xFFFF
                count = count + 6
                if count >= 8 {
                    count -= 8
                    file.append(UInt8(truncatingIfNeeded: bits >> count))
                }
            } else if [UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: ")")].contains(byte) {
                return (file, offset)
            } else if byte > 0x20, byte != UInt8(ascii: "=") {
                return nil
            }
            offset += 1
        }
        return nil
    }

    static func text(of file: SharedBytes) -> String {
        let bytes = file.array
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 {
                text.append(index <= group.count ? letters[bits >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension RawSpan {
    fileprivate func text(_ range: Range<Int>) -> String {
        unsafe extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Reads an attribute or the style; nil if neither has a number.
    fileprivate func number(after property: StaticString, in tag: Range<Int>) -> (range: Range<Int>, value: Double)? {
        guard var offset = (tag.lowerBound..<tag.upperBound).first(where: { hasText(property, at: $0) }) else {
            return nil
        }
        offset += property.utf8CodeUnitCount
        func isAny(of characters: String) -> Bool {
            (try? byte(at: offset)).map { characters.utf8.contains(UInt8($0)) } ?? false
        }
        while offset < tag.upperBound, isAny(of: " =:\"'") { offset += 1 }
        let start = offset
        while offset < tag.upperBound, isAny(of: "0123456789.") { offset += 1 }
        guard let value = Double(text(start..<offset)) else { return nil }
        if hasText("px", at: offset) { offset += 2 }
        return isAny(of: "\"' ;") ? (start..<offset, value) : nil
    }
}
