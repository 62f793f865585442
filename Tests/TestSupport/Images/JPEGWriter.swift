/// Writes JPEG files of kinds that our encoder never writes; each block of 8×8 pixels has one color.
package struct JPEGWriter {
    package var width: Int
    package var height: Int
    /// Number of color components, 1…4.
    package var components: Int
    /// Sampling factors of each component; 1×1 if a component is not listed.
    package var sampling: [(across: Int, down: Int)] = []
    /// Whether the file is progressive; each of the `scans` after the first has all details of a component in turn.
    package var isProgressive = false
    package var scans = 2
    /// Transform in the Adobe marker: 0 none, 1 Y′CbCr, 2 YCCK; nil for no marker.
    package var adobeTransform: UInt8?

    package init(width: Int, height: Int, components: Int) {
        self.width = width
        self.height = height
        self.components = components
    }

    /// `color` returns the stored components of the block at a position, which is counted in blocks.
    ///
    /// A block of a component with fewer samples takes the color of its top left corner.
    package func file(color: (_ column: Int, _ row: Int) -> [UInt8]) -> [UInt8] {
        var file: [UInt8] = [0xFF, 0xD8]
        if let adobeTransform {
            file += segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, adobeTransform])
        }
        // Quantization step 8 for the DC coefficient, which is eight times the mean: a step is one of 255 levels.
        file += segment(0xDB, [0] + [UInt8](repeating: 8, count: 64))
        let identifiers = (1...components).map(UInt8.init)
        file += segment(
            isProgressive ? 0xC2 : 0xC0,
            [8] + height.bigEndian16 + width.bigEndian16 + [UInt8(components)]
                + identifiers.flatMap { identifier in
                    let (across, down) = factors(of: Int(identifier) - 1)
                    return [identifier, UInt8(across << 4 | down), 0] as [UInt8]
                })
        // DC: twelve lengths, all with four-bit codes. AC: only end of block, with a one-bit code.
        file += segment(0xC4, [0x00, 0, 0, 0, 12] + [UInt8](repeating: 0, count: 12) + (0..<12).map(UInt8.init))
        file += segment(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0])

        let units = units(color)
        let selectors = identifiers.flatMap { [$0, 0x00] as [UInt8] }
        file += segment(0xDA, [UInt8(components)] + selectors + [0, isProgressive ? 0 : 63, 0])
        file += entropyCoded(units)
        if isProgressive {
            for scan in 1..<max(1, scans) {
                let component = (scan - 1) % components
                file += segment(0xDA, [1, UInt8(component + 1), 0x00, 1, 63, 0])
                var bits = BitWriter()
                for _ in 0..<blockCount(of: component) { bits.append(0, count: 1) }
                file += bits.finish()
            }
        }
        return file + [0xFF, 0xD9]
    }

    private func factors(of component: Int) -> (across: Int, down: Int) {
        component < sampling.count ? sampling[component] : (1, 1)
    }

    /// The largest sampling factors, which are the size of an MCU in blocks.
    private var unit: (across: Int, down: Int) {
        let all = (0..<components).map { factors(of: $0) }
        return (all.map(\.across).max() ?? 1, all.map(\.down).max() ?? 1)
    }

    /// Number of blocks of a component without padding.
    private func blockCount(of component: Int) -> Int {
        let (across, down) = factors(of: component)
        func blocks(_ side: Int, _ factor: Int, _ unit: Int) -> Int { (side * factor + 8 * unit - 1) / (8 * unit) }
        return blocks(width, across, unit.across) * blocks(height, down, unit.down)
    }

    /// Component and value of each block in file order.
    private func units(_ color: (Int, Int) -> [UInt8]) -> [(component: Int, value: UInt8)] {
        let (across, down) = unit
        func blocks(at column: Int, _ row: Int) -> [(component: Int, value: UInt8)] {
            (0..<components).flatMap { component in
                let factors = factors(of: component)
                return (0..<factors.down * factors.across).map { index in
                    let place = (x: index % factors.across, y: index / factors.across)
                    let color = color(
                        column * across + place.x * across / factors.across,
                        row * down + place.y * down / factors.down)
                    precondition(color.count == components, "a block of another kind")
                    return (component, color[component])
                }
            }
        }
        let columns = (width + 8 * across - 1) / (8 * across)
        let rows = (height + 8 * down - 1) / (8 * down)
        return (0..<rows).flatMap { row in (0..<columns).flatMap { blocks(at: $0, row) } }
    }

    private func entropyCoded(_ units: [(component: Int, value: UInt8)]) -> [UInt8] {
        var bits = BitWriter()
        var previous = [Int](repeating: 0, count: components)
        for (component, value) in units {
            let mean = Int(value) - 128
            let difference = mean - previous[component]
            previous[component] = mean
            let length = Int.bitWidth - abs(difference).leadingZeroBitCount
            bits.append(length, count: 4)
            bits.append(difference < 0 ? difference + (1 << length) - 1 : difference, count: length)
            if !isProgressive { bits.append(0, count: 1) }
        }
        return bits.finish()
    }

    private func segment(_ marker: UInt8, _ data: [UInt8]) -> [UInt8] {
        [0xFF, marker] + (data.count + 2).bigEndian16 + data
    }
}

extension JPEGWriter {
    /// Adds an EXIF block with an orientation.
    package static func oriented(_ file: [UInt8], _ orientation: Int) -> [UInt8] {
        let block = Array("Exif\0\0".utf8) + EXIF.block(orientation: orientation)
        return inserting([0xFF, 0xE1] + (block.count + 2).bigEndian16 + block, into: file)
    }

    /// Adds an ICC profile of at most 65,519 bytes.
    package static func profiled(_ file: [UInt8], _ profile: [UInt8]) -> [UInt8] {
        let block = Array("ICC_PROFILE\0".utf8) + [1, 1] + profile
        return inserting([0xFF, 0xE2] + (block.count + 2).bigEndian16 + block, into: file)
    }

    private static func inserting(_ segment: [UInt8], into file: [UInt8]) -> [UInt8] {
        file[0..<2] + segment + file[2...]
    }
}

/// Writes bits, highest first, and stuffs a zero after each 0xFF.
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var pending = 0
    private var count = 0

    mutating func append(_ value: Int, count: Int) {
        for bit in (0..<count).reversed() {
            pending = pending << 1 | (value >> bit & 1)
            self.count += 1
            if self.count == 8 { flush() }
        }
    }

    consuming func finish() -> [UInt8] {
        while count > 0 { append(1, count: 1) }
        return bytes
    }

    private mutating func flush() {
        bytes.append(UInt8(pending))
        if pending == 0xFF { bytes.append(0) }
        pending = 0
        count = 0
    }
}
