/// Counts the pixels of a GIF frame by its LZW codes, without decoding them (GIF89a, appendix F).
enum GIFPixels {
    private static let maximumCodes = 4_096

    /// Returns a color index that the frame does not use; nil if there is none.
    static func unusedIndex(_ bytes: RawSpan, data: Int) -> Int? {
        guard let codeSize = try? bytes.byte(at: data - 1), 1...8 ~= codeSize else { return nil }
        if codeSize < 8 { return 1 << codeSize }
        // Other codes are for sequences of colors that had their own codes earlier.
        var isUsed = [Bool](repeating: false, count: 256)
        _ = count(bytes, data: data, maximum: .max) { isUsed[$0] = true }
        return isUsed.firstIndex(of: false)
    }

    /// - Parameter onColor: Called for each code of a single color.
    static func count(_ bytes: RawSpan, data: Int, maximum: Int, onColor: (Int) -> Void = { _ in }) -> Int {
        guard let codeSize = try? bytes.byte(at: data - 1), 1...11 ~= codeSize else { return 0 }
        let clear = 1 << codeSize
        var reader = CodeReader(at: data)
        var lengths = [Int](repeating: 1, count: maximumCodes)
        var next = clear + 2
        var width = codeSize + 1
        var previous: Int?
        var pixels = 0
        while pixels < maximum, let code = reader.code(width: width, in: bytes), code != clear + 1 {
            if code == clear {
                next = clear + 2
                width = codeSize + 1
                previous = nil
                continue
            }
            if let previous {
                guard code <= next else { break }
                if next < maximumCodes {
                    lengths[next] = lengths[previous] + 1
                    next += 1
                    if next == 1 << width, width < 12 { width += 1 }
                } else if code == next {
                    break
                }
            } else if code > clear {
                break
            }
            pixels += lengths[code]
            if code < clear { onColor(code) }
            previous = code
        }
        return pixels
    }
}

/// Reads codes, least significant bits first, up to the end of the file.
private struct CodeReader {
    private var offset: Int
    private var left = 0
    private var bits = 0
    private var bitCount = 0

    init(at subBlock: Int) { offset = subBlock }

    mutating func code(width: Int, in bytes: RawSpan) -> Int? {
        while bitCount < width {
            guard let byte = nextByte(in: bytes) else { return nil }
            bits |= byte << bitCount
            bitCount += 8
        }
        defer {
            bits >>= width
            bitCount -= width
        }
        return bits & (1 << width - 1)
    }

    private mutating func nextByte(in bytes: RawSpan) -> Int? {
        if left == 0 {
            guard let length = try? bytes.byte(at: offset), length > 0 else { return nil }
            left = length
            offset = offset + 1
        }
        guard let byte = try? bytes.byte(at: offset) else { return nil }
        left = left - 1
        offset = offset + 1
        return byte
    }
}
