package import Recipes

/// Writes icons; the service only reads them.
package enum IconWriter {
    package struct Entry {
        let size: PixelSize
        let bits: Int
        /// A PNG file, or a bitmap without its file header, followed by its mask.
        package var data: [UInt8]

        package static func png(_ image: SampleImage) -> Entry {
            Entry(size: image.size, bits: 8 * image.bands, data: ImageFixture.file(image, as: .png))
        }

        /// A bitmap with red, green, blue and white quarters, and a mask.
        package static func bitmap(
            _ coding: BMPWriter.Coding, _ size: PixelSize, headerLength: Int = 40,
            hides: (_ x: Int, _ y: Int) -> Bool = { _, _ in false }
        ) -> Entry {
            var writer = BMPWriter(coding)
            writer.headerLength = headerLength
            let file = writer.file(size) { x, y in
                let number = (x < size.width / 2 ? 0 : 1) + (y < size.height / 2 ? 0 : 2)
                return coding == .one ? number % 2 : number
            }
            var data = Array(file[14...])
            data.replaceSubrange(8..<12, with: (2 * size.height).littleEndian32)
            for row in 0..<size.height {
                var bits = [UInt8](repeating: 0, count: (size.width + 31) / 32 * 4)
                for x in 0..<size.width where hides(x, size.height - 1 - row) { bits[x / 8] |= 0x80 >> UInt8(x % 8) }
                data += bits
            }
            return Entry(size: size, bits: Int(file[28]), data: data)
        }
    }

    package static func file(_ entries: [Entry]) -> [UInt8] {
        var start = 6 + 16 * entries.count
        let directory = entries.flatMap { entry -> [UInt8] in
            defer { start += entry.data.count }
            let sides = [UInt8(truncatingIfNeeded: entry.size.width), UInt8(truncatingIfNeeded: entry.size.height)]
            return sides + [0, 0] + 1.littleEndian16 + entry.bits.littleEndian16 + entry.data.count.littleEndian32
                + start.littleEndian32
        }
        return [0, 0, 1, 0] + entries.count.littleEndian16 + directory + entries.flatMap(\.data)
    }
}
