/// Builds WebP files from our encoder's output.
package enum WebPWriter {
    /// A file with an ICC profile and one chunk of pixels.
    package static func profiled(
        _ file: [UInt8], width: Int, height: Int, hasAlpha: Bool, _ profile: [UInt8]
    ) -> [UInt8] {
        let pixels = file.dropFirst(12)
        let chunk = pixels.starts(with: "VP8X".utf8) ? Array(pixels.dropFirst(18)) : Array(pixels)
        let flags: UInt8 = 0x20 | (hasAlpha ? 0x10 : 0)
        let sides = [width - 1, height - 1].flatMap { $0.littleEndian32.prefix(3) }
        let padding = [UInt8](repeating: 0, count: profile.count % 2)
        let body =
            Array("WEBPVP8X".utf8) + 10.littleEndian32 + [flags, 0, 0, 0] + sides + Array("ICCP".utf8)
            + profile.count.littleEndian32 + profile + padding + chunk
        return Array("RIFF".utf8) + body.count.littleEndian32 + body
    }
}

/// Writes lossless WebP files whose left and right halves differ only in green.
///
/// All Huffman codes are simple, so each pixel is one bit.
package struct LosslessWebPWriter {
    private let width: Int
    private let height: Int
    private let red: UInt8
    private let greens: (left: UInt8, right: UInt8)
    private let blue: UInt8

    /// `greens` are the values of the two halves; the smaller one must be on the left.
    package init(width: Int, height: Int, red: UInt8, greens: (left: UInt8, right: UInt8), blue: UInt8) {
        precondition(greens.left < greens.right, "codes go by value")
        (self.width, self.height, self.red, self.greens, self.blue) = (width, height, red, greens, blue)
    }

    package var file: [UInt8] {
        var bits = BitWriter()
        bits.write(0x2F, count: 8)
        bits.write(width - 1, count: 14)
        bits.write(height - 1, count: 14)
        // No alpha, version 0, no transform, no color cache, one group of codes.
        bits.write(0, count: 7)
        bits.writeCode([greens.left, greens.right])
        bits.writeCode([red])
        bits.writeCode([blue])
        bits.writeCode([255])
        bits.writeCode([0])
        for _ in 0..<height {
            for x in 0..<width { bits.write(x < width / 2 ? 0 : 1, count: 1) }
        }
        let data = bits.finish()
        let padding = [UInt8](repeating: 0, count: data.count % 2)
        let chunk = Array("VP8L".utf8) + length(data.count) + data + padding
        return Array("RIFF".utf8) + length(4 + chunk.count) + Array("WEBP".utf8) + chunk
    }

    private func length(_ count: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }
}

/// Writes bits, lowest first.
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var current = 0
    private var count = 0

    mutating func write(_ value: Int, count bits: Int) {
        for bit in 0..<bits {
            current |= (value >> bit & 1) << count
            count += 1
            if count == 8 { flush() }
        }
    }

    /// Writes a simple code: one symbol takes no bits, two symbols take one bit each.
    mutating func writeCode(_ symbols: [UInt8]) {
        write(1, count: 1)
        write(symbols.count - 1, count: 1)
        write(1, count: 1)
        for symbol in symbols { write(Int(symbol), count: 8) }
    }

    mutating func finish() -> [UInt8] {
        if count > 0 { flush() }
        return bytes
    }

    private mutating func flush() {
        bytes.append(UInt8(current))
        (current, count) = (0, 0)
    }
}
