package import Recipes

/// Writes TIFF files of every kind; the service only reads them.
package struct TIFFWriter {
    package enum Kind: Int, Sendable {
        case whiteIsZero = 0
        case blackIsZero, rgb, palette
        case cmyk = 5
        case lab = 8
    }

    package struct Page {
        package var size: PixelSize
        package var kind = Kind.rgb
        package var samples = 3
        package var bits = 8
        package var orientation = 1
        package var compression = 1
        package var sampleFormat = 1
        /// `NewSubfileType`: 1 for a reduced copy of another page.
        package var subfile = 0
        /// Whether pixels are stored in tiles of 16×16.
        package var isTiled = false
        /// The encoded bytes of the only tile; nil to write the samples.
        package var tile: [UInt8]?
        /// Red, green and blue of each palette entry.
        package var palette: [[UInt8]] = []
        /// ICC profile; empty for none.
        package var profile: [UInt8] = []
        /// Returns the samples of a pixel.
        package var pixel: @Sendable (Int, Int) -> [Int]

        package init(_ size: PixelSize, pixel: @escaping @Sendable (Int, Int) -> [Int]) {
            self.size = size
            self.pixel = pixel
        }
    }

    package var isLittleEndian = true
    /// Whether offsets have 64 bits (BigTIFF).
    package var isBig = false
    package var pages: [Page]

    package init(_ pages: [Page]) { self.pages = pages }

    package var file: [UInt8] {
        var file = Array((isLittleEndian ? "II" : "MM").utf8) + number(isBig ? 43 : 42, 2)
        if isBig { file += number(8, 2) + number(0, 2) }
        var link = file.count
        file += number(0, isBig ? 8 : 4)
        for page in pages {
            let data = file.count
            let pixels = page.tile ?? (page.compression == 50_000 ? Self.zstandard(packed(page)) : packed(page))
            file += pixels
            func stored(_ values: [Int], _ size: Int) -> Int {
                if file.count % 2 == 1 { file.append(0) }
                let offset = file.count
                file += values.flatMap { number($0, size) }
                return offset
            }
            let bits = [Int](repeating: page.bits, count: page.samples)
            let bitsAt = stored(bits, 2)
            let map = page.palette.isEmpty ? [] : paddedMap(page)
            let mapAt = map.isEmpty ? 0 : stored(map, 2)
            var entries: [(tag: Int, type: Int, count: Int, value: Int)] = [
                (256, 4, 1, page.size.width), (257, 4, 1, page.size.height),
                (258, 3, page.samples, page.samples * 2 <= (isBig ? 8 : 4) ? -1 : bitsAt),
                (259, 3, 1, page.compression), (262, 3, 1, page.kind.rawValue), (274, 3, 1, page.orientation),
                (277, 3, 1, page.samples),
            ]
            if !page.profile.isEmpty {
                let place = stored(page.profile.map(Int.init), 1)
                entries.append((34_675, 7, page.profile.count, place))
            }
            if page.isTiled {
                let across = (page.size.width + 15) / 16, down = (page.size.height + 15) / 16
                let length = pixels.count / (across * down)
                let offsets = stored((0..<across * down).map { data + $0 * length }, 4)
                let lengths = stored([Int](repeating: length, count: across * down), 4)
                entries += [
                    (322, 3, 1, 16), (323, 3, 1, 16), (324, 4, across * down, across * down == 1 ? data : offsets),
                    (325, 4, across * down, across * down == 1 ? length : lengths),
                ]
            } else {
                entries += [(273, 4, 1, data), (278, 4, 1, page.size.height), (279, 4, 1, pixels.count)]
            }
            if !map.isEmpty { entries.append((320, 3, map.count, mapAt)) }
            let extra = page.samples - [.rgb: 3, .lab: 3, .cmyk: 4][page.kind, default: 1]
            if extra > 0 { entries.append((338, 3, 1, 2)) }
            if page.sampleFormat != 1 { entries.append((339, 3, 1, page.sampleFormat)) }
            if page.subfile > 0 { entries.append((254, 4, 1, page.subfile)) }
            entries.sort { $0.tag < $1.tag }

            if file.count % 2 == 1 { file.append(0) }
            let directory = file.count
            file.replaceSubrange(link..<link + (isBig ? 8 : 4), with: number(directory, isBig ? 8 : 4))
            file += number(entries.count, isBig ? 8 : 2)
            for entry in entries {
                file += number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, isBig ? 8 : 4)
                let room = isBig ? 8 : 4
                let size = entry.type == 3 ? 2 : 4
                var value: [UInt8] = []
                if entry.value == -1 {
                    value = bits.flatMap { number($0, 2) }
                } else if size * entry.count <= room {
                    value = number(entry.value, size)
                } else {
                    value = number(entry.value, room)
                }
                file += value + [UInt8](repeating: 0, count: room - value.count)
            }
            link = file.count
            file += number(0, isBig ? 8 : 4)
        }
        return file
    }

    /// A Zstandard frame with raw blocks (RFC 8878).
    private static func zstandard(_ bytes: [UInt8]) -> [UInt8] {
        let blocks = stride(from: 0, to: bytes.count, by: 1 << 16).flatMap { start -> [UInt8] in
            let part = bytes[start..<min(start + 1 << 16, bytes.count)]
            let isLast = part.endIndex == bytes.count
            return Array((part.count << 3 | (isLast ? 1 : 0)).littleEndian32.prefix(3)) + part
        }
        return [0x28, 0xB5, 0x2F, 0xFD, 0xA0] + bytes.count.littleEndian32 + blocks
    }

    /// The columns of a color map, padded with black.
    private func paddedMap(_ page: Page) -> [Int] {
        (0..<3).flatMap { band in
            (0..<1 << page.bits).map { $0 < page.palette.count ? Int(page.palette[$0][band]) * 257 : 0 }
        }
    }

    private func number(_ value: Int, _ count: Int) -> [UInt8] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isLittleEndian ? bytes : bytes.reversed()
    }

    /// The pixels of a page in rows or tiles, uncompressed or as PackBits without runs.
    private func packed(_ page: Page) -> [UInt8] {
        func row(_ y: Int, _ columns: Range<Int>) -> [UInt8] {
            let samples = columns.flatMap { x in
                page.pixel(min(x, page.size.width - 1), min(y, page.size.height - 1))
            }
            if page.bits >= 8 { return samples.flatMap { number($0, page.bits / 8) } }
            let perByte = 8 / page.bits
            return stride(from: 0, to: samples.count, by: perByte).map { start in
                var byte = 0
                for place in 0..<perByte where start + place < samples.count {
                    byte |= samples[start + place] << (8 - page.bits * (place + 1))
                }
                return UInt8(byte)
            }
        }
        func coded(_ bytes: [UInt8]) -> [UInt8] {
            guard page.compression == 32_773 else { return bytes }
            return stride(from: 0, to: bytes.count, by: 128).flatMap { start -> [UInt8] in
                let part = bytes[start..<min(start + 128, bytes.count)]
                return [UInt8(part.count - 1)] + part
            }
        }
        guard page.isTiled else {
            return (0..<page.size.height).flatMap { coded(row($0, 0..<page.size.width)) }
        }
        return stride(from: 0, to: page.size.height, by: 16).flatMap { top in
            stride(from: 0, to: page.size.width, by: 16).flatMap { left in
                (top..<top + 16).flatMap { row($0, left..<left + 16) }
            }
        }
    }
}
