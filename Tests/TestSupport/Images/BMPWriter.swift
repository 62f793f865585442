package import Recipes

/// Writes Windows bitmaps of every kind; the service only reads them.
package struct BMPWriter {
    /// The encoding of pixels.
    package enum Coding: String, CaseIterable, Sendable {
        /// indices of 1, 4 or 8 bits in rows
        case one, four, eight
        /// components with the default masks
        case sixteen, twentyFour, thirtyTwo
        /// components with masks in the file
        case fields16, fields32
        /// run-length encoded indices of 4 or 8 bits
        case runs4, runs8

        /// Bits per pixel.
        var depth: Int {
            switch self {
            case .one: 1
            case .four, .runs4: 4
            case .eight, .runs8: 8
            case .sixteen, .fields16: 16
            case .twentyFour: 24
            case .thirtyTwo, .fields32: 32
            }
        }
    }

    package var coding: Coding
    package var isTopDown = false
    /// Length of the second header: 12, 40, 108 or 124 bytes.
    package var headerLength = 40

    package init(_ coding: Coding) { self.coding = coding }

    /// Pixels are 0 red, 1 green, 2 blue or 3 white; one-bit files have only red and green.
    ///
    /// In files with alpha (`fields32` in long headers) white is half transparent.
    package func file(_ size: PixelSize, _ pixel: (Int, Int) -> Int) -> [UInt8] {
        let indexed = coding.depth <= 8
        let palette: [UInt8] = indexed ? [0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0] : []
        let colors = coding == .one ? 2 : 4
        let isOld = headerLength == 12
        var paletteBytes: [UInt8] = []
        if indexed, isOld {
            for color in 0..<1 << coding.depth {
                paletteBytes += color < colors ? palette[4 * color..<4 * color + 3] : [0, 0, 0]
            }
        } else if indexed {
            paletteBytes = Array(palette.prefix(4 * colors))
        }
        var masks: [Int] = []
        switch coding {
        case .fields16: masks = [0xF800, 0x07E0, 0x001F]
        case .fields32: masks = [0x0000_00FF, 0x0000_FF00, 0x00FF_0000, 0xFF00_0000]
        default: break
        }
        let compression = [.runs8: 1, .runs4: 2, .fields16: 3, .fields32: 3][coding] ?? 0
        var header = headerLength.littleEndian32
        if isOld {
            header +=
                size.width.littleEndian16 + size.height.littleEndian16 + 1.littleEndian16 + coding.depth.littleEndian16
        } else {
            header += size.width.littleEndian32 + (isTopDown ? -size.height : size.height).littleEndian32
            header += 1.littleEndian16 + coding.depth.littleEndian16 + compression.littleEndian32
            header += [Int](repeating: 0, count: 3).flatMap { $0.littleEndian32 }
            header += (indexed ? colors : 0).littleEndian32 + 0.littleEndian32
            let fields = masks.flatMap { $0.littleEndian32 }
            if headerLength > 40 {
                header += fields
                header += [UInt8](repeating: 0, count: headerLength - header.count)
            } else {
                header += fields.prefix(12)
            }
        }
        let start = 14 + header.count + paletteBytes.count
        let rows = (0..<size.height).map { row in
            let y = isTopDown ? row : size.height - 1 - row
            return (0..<size.width).map { pixel($0, y) }
        }
        let data = coding == .runs4 || coding == .runs8 ? runs(rows) : rows.flatMap(bytes)
        let file = Array("BM".utf8) + (start + data.count).littleEndian32 + 0.littleEndian32 + start.littleEndian32
        return file + header + paletteBytes + data
    }

    private func bytes(_ row: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        switch coding {
        case .one, .four, .eight:
            let perByte = 8 / coding.depth
            for start in stride(from: 0, to: row.count, by: perByte) {
                var byte = 0
                for place in 0..<perByte where start + place < row.count {
                    byte |= row[start + place] << (8 - coding.depth * (place + 1))
                }
                bytes.append(UInt8(byte))
            }
        case .sixteen: bytes = row.flatMap { [0x7C00, 0x03E0, 0x001F, 0x7FFF][$0].littleEndian16 }
        case .fields16: bytes = row.flatMap { [0xF800, 0x07E0, 0x001F, 0xFFFF][$0].littleEndian16 }
        case .twentyFour:
            bytes = row.flatMap { [[0, 0, 255], [0, 255, 0], [255, 0, 0], [255, 255, 255]][$0] as [UInt8] }
        case .thirtyTwo: bytes = row.flatMap { [0xFF_0000, 0x00_FF00, 0x00_00FF, 0xFF_FFFF][$0].littleEndian32 }
        case .fields32:
            bytes = row.flatMap { [0xFF00_00FF, 0xFF00_FF00, 0xFFFF_0000, 0x80FF_FFFF][$0].littleEndian32 }
        case .runs4, .runs8: break
        }
        return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    /// Encodes rows as runs of equal indices; the first three pixels are literals, and offsets skip zeros.
    private func runs(_ rows: [[Int]]) -> [UInt8] {
        var data: [UInt8] = []
        let isSmall = coding == .runs4
        func both(_ index: Int) -> UInt8 { UInt8(isSmall ? index << 4 | index : index) }
        for row in rows {
            let literal = Array(row.prefix(3))
            data += [0, 3]
            data +=
                isSmall
                ? [UInt8(literal[0] << 4 | literal[1]), UInt8(literal[2] << 4)] : literal.map { UInt8($0) } + [0]
            var place = 3
            while place < row.count {
                let length = min(255, row[place...].prefix { $0 == row[place] }.count)
                data += row[place] == 0 ? [0, 2, UInt8(length), 0] : [UInt8(length), both(row[place])]
                place += length
            }
            data += [0, 0]
        }
        return data + [0, 1]
    }
}
