import Coordination
import Memory
import Recipes

/// Decodes bitmaps; all reads are bounds-checked, and the result is filled before the file is read.
enum BMPPixels {
    /// Decodes the file; missing rows are gray and mark the result as incomplete.
    ///
    /// Pixels that runs skip have the palette's first color.
    static func decode(_ file: SharedBytes, token: WorkToken) throws -> DecodedPixels {
        try file.withBytes { bytes in
            let layout = try BMPLayout(bytes)
            let palette = layout.coding == .components ? [] : palette(of: bytes, by: layout)
            let memory = try PlaneMemory(count: layout.size.area * layout.bands)
            var reader = unsafe BMPReader(
                layout: layout, palette: palette, pixels: memory.bytes.assumingMemoryBound(to: UInt8.self))
            let isWhole =
                switch layout.coding {
                case .runs: try reader.readRuns(bytes, token: token)
                case .palette, .components: try reader.readRows(bytes, token: token)
                }
            return DecodedPixels(
                pixels: memory.finish(), size: layout.size, bands: layout.bands, isIncomplete: !isWhole)
        }
    }

    private static func palette(of bytes: RawSpan, by layout: BMPLayout) -> [(UInt8, UInt8, UInt8)] {
        var colors = [(UInt8, UInt8, UInt8)](repeating: (0, 0, 0), count: 256)
        for index in 0..<layout.palette.count {
            let offset = layout.palette.offset + index * layout.palette.stride
            guard let blue = try? bytes.byte(at: offset), let green = try? bytes.byte(at: offset + 1),
                let red = try? bytes.byte(at: offset + 2)
            else { break }
            colors[index] = (UInt8(red), UInt8(green), UInt8(blue))
        }
        return colors
    }
}

@safe
private struct BMPReader {
    let layout: BMPLayout
    let palette: [(UInt8, UInt8, UInt8)]
    let pixels: UnsafeMutableBufferPointer<UInt8>

    mutating func readRows(_ bytes: RawSpan, token: WorkToken) throws -> Bool {
        let length = layout.rowLength
        let width = layout.size.width
        let depth = layout.depth
        let scales = layout.components.map { Scale($0) }
        var isWhole = true
        for row in 0..<layout.size.height {
            if row % 64 == 0 { try token.check() }
            let y = layout.isTopDown ? row : layout.size.height - 1 - row
            let start = layout.pixels + row * length
            // The padding of the last row may be missing.
            guard bytes.byteCount - start >= (width * depth + 7) / 8 else {
                isWhole = false
                fill(row: y)
                continue
            }
            if layout.coding == .palette {
                for x in 0..<width {
                    let byte = unsafe Int(bytes.unsafeLoad(fromByteOffset: start + x * depth / 8, as: UInt8.self))
                    put(palette[byte >> (8 - depth - x * depth % 8) & (1 << depth - 1)], x: x, y: y)
                }
            } else {
                for x in 0..<width {
                    put(pixel(bytes, at: start + x * depth / 8), by: scales, x: x, y: y)
                }
            }
        }
        return isWhole
    }

    mutating func readRuns(_ bytes: RawSpan, token: WorkToken) throws -> Bool {
        let width = layout.size.width
        let height = layout.size.height
        for y in 0..<height {
            if y % 64 == 0 { try token.check() }
            for x in 0..<width { put(palette[0], x: x, y: y) }
        }
        let isSmall = layout.depth == 4
        var x = 0
        var row = 0
        var offset = layout.pixels
        var turns = 0
        func byte(_ distance: Int) -> Int? { try? bytes.byte(at: offset + distance) }
        func index(_ byte: Int, _ pixel: Int) -> Int { isSmall ? byte >> (pixel % 2 == 0 ? 4 : 0) & 15 : byte }
        // Each iteration reads at least two bytes; pixels outside the image are skipped.
        while row < height {
            turns += 1
            if turns % 65_536 == 0 { try token.check() }
            let columnsLeft = max(0, width - x)
            guard let first = byte(0), let second = byte(1) else { return false }
            offset += 2
            switch (first, second) {
            case (1..., _):
                for pixel in 0..<min(first, columnsLeft) {
                    put(palette[index(second, pixel)], x: x + pixel, y: height - 1 - row)
                }
                x += first
            case (0, 0): (x, row) = (0, row + 1)
            case (0, 1): return true
            case (0, 2):
                guard let right = byte(0), let up = byte(1) else { return false }
                x = x + right
                row = row + up
                offset = offset + 2
            default:
                let length = isSmall ? (second + 1) / 2 : second
                guard bytes.byteCount - offset >= length else { return false }
                for pixel in 0..<min(second, columnsLeft) {
                    guard let value = byte(isSmall ? pixel / 2 : pixel) else { return false }
                    put(palette[index(value, pixel)], x: x + pixel, y: height - 1 - row)
                }
                x = x + second
                offset = offset + (length + 1) / 2 * 2
            }
        }
        return true
    }

    /// Returns the value at an offset that the caller has checked.
    private func pixel(_ bytes: RawSpan, at offset: Int) -> Int {
        func byte(_ index: Int) -> Int {
            unsafe Int(bytes.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self)) << (8 * index)
        }
        return switch layout.depth {
        case 16: byte(0) | byte(1)
        case 24: byte(0) | byte(1) | byte(2)
        default: byte(0) | byte(1) | byte(2) | byte(3)
        }
    }

    private mutating func put(_ color: (UInt8, UInt8, UInt8), x: Int, y: Int) {
        let offset = (y * layout.size.width + x) * 3
        unsafe pixels[offset] = color.0
        unsafe pixels[offset + 1] = color.1
        unsafe pixels[offset + 2] = color.2
    }

    private mutating func put(_ bits: Int, by scales: [Scale], x: Int, y: Int) {
        let bands = layout.bands
        let offset = (y * layout.size.width + x) * bands
        for band in 0..<bands { unsafe pixels[offset + band] = scales[band].component(of: bits) }
    }

    private mutating func fill(row: Int) {
        let bands = layout.bands
        for offset in row * layout.size.width * bands..<(row + 1) * layout.size.width * bands {
            unsafe pixels[offset] = bands == 4 && offset % 4 == 3 ? 255 : 128
        }
    }
}

private struct Scale {
    private let shift: Int
    private let largest: Int
    private let table: [UInt8]

    init(_ component: BMPLayout.Component) {
        shift = component.shift
        largest = component.largest
        table =
            largest > 255
            ? [] : (0...largest).map { [largest] in UInt8(largest == 0 ? 0 : ($0 * 255 + largest / 2) / largest) }
    }

    func component(of bits: Int) -> UInt8 {
        let value = bits >> shift & largest
        return largest > 255 ? UInt8((value * 255 + largest / 2) / largest) : table[value]
    }
}
