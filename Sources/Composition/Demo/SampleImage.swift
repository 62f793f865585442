import Imaging
import Recipes

struct SampleImage {
    private typealias Light = SIMD3<Double>

    private let size: PixelSize
    private var pixels: [Light]

    /// Creates an image; its height is the unit of all lengths.
    init(width: Int, height: Int) {
        size = PixelSize(width: width, height: height)
        pixels = []
        pixels.reserveCapacity(width * height)
        let columns = (0..<width).map { Column(x: Double($0) / Double(height)) }
        for row in 0..<height {
            let y = Double(row) / Double(height)
            for index in 0..<width {
                pixels.append(
                    y < Self.shore ? Self.land(columns[index], y: y) : water(index, y: y, x: columns[index].x))
            }
        }
        for index in pixels.indices { pixels[index] += Self.grain(index) }
    }

    func jpeg() throws -> EncodedImage {
        try ImageEncoder.encode(
            pixels: pixels.flatMap { Self.bytes(of: $0) }, size: size, bands: 3, format: .jpeg, quality: 90)
    }

    func framed(border: Int) throws -> EncodedImage {
        let outer = PixelSize(width: size.width + 2 * border, height: size.height + 2 * border)
        var bytes = [UInt8]()
        for row in -border..<size.height + border {
            for column in -border..<size.width + border {
                let isInside = 0..<size.height ~= row && 0..<size.width ~= column
                bytes += isInside ? Self.bytes(of: pixels[row * size.width + column]) : [245, 245, 220]
            }
        }
        return try ImageEncoder.encode(pixels: bytes, size: outer, bands: 3, format: .png, quality: 100)
    }

    /// Draws a watermark: a circle with a bird on a transparent background.
    static func mark(side: Int) throws -> EncodedImage {
        var bytes = [UInt8]()
        for row in 0..<side {
            for column in 0..<side {
                let x = 2 * Double(column) / Double(side) - 1
                let y = 2 * Double(row) / Double(side) - 1
                let edge = (1 - (x * x + y * y).squareRoot()) * Double(side) / 2
                let isWing = isBird(dx: x / 0.8, dy: (y - 0.15) / 0.8, scale: 1.6)
                bytes += Self.bytes(of: isWing ? [0.96, 0.92, 0.83] : [0.08, 0.38, 0.42])
                bytes.append(UInt8(max(0, min(1, edge)) * 255))
            }
        }
        return try ImageEncoder.encode(
            pixels: bytes, size: PixelSize(width: side, height: side), bands: 4, format: .png, quality: 100)
    }

    private static func bytes(of light: Light) -> [UInt8] {
        let clamped = light.clamped(lowerBound: .zero, upperBound: .one) * 255
        return [UInt8(clamped.x), UInt8(clamped.y), UInt8(clamped.z)]
    }

    private static func grain(_ index: Int) -> Double { (random(Double(index), 7) - 0.5) * 0.022 }
}

extension SampleImage {
    private struct Column {
        let x: Double
        let ridges: [Double]
        let trees: Double

        init(x: Double) {
            self.x = x
            ridges = SampleImage.ridges.map { ridge in
                ridge.base - ridge.height * fractal(x * ridge.pitch + ridge.shift, ridge.shift, octaves: 7)
            }
            trees = Self.treetop(x * 46, seed: 3, height: 0.075)
        }

        /// Returns the upper edge of two rows of conifers at `x`, in distances between neighboring trees.
        private static func treetop(_ x: Double, seed: Double, height: Double) -> Double {
            let tops = [0.0, 0.5].map { shift in
                let index = (x + shift).rounded(.down)
                let size = 0.55 + 0.45 * random(index, seed + shift)
                let side = abs(x + shift - index - 0.5) * 2
                // The outline falls in steps, as branches do.
                let outline = 1 - side * 1.25 / size
                return height * size * max(0, outline + 0.06 * random((side * 14).rounded(.down), index))
            }
            return shore - 0.02 - max(tops[0], tops[1]) - 0.012 * noise(x * 0.2, seed)
        }
    }

    /// The shore's position relative to the height of the image.
    private static let shore = 0.78
    private static let sun: (x: Double, y: Double) = (0.95, 0.34)
    private static let ridges: [(base: Double, height: Double, pitch: Double, shift: Double)] = [
        (0.66, 0.42, 1.7, 0.3), (0.74, 0.30, 2.3, 5.9), (0.80, 0.16, 3.1, 11.2),
    ]

    private static func land(_ column: Column, y: Double) -> Light {
        if isBird(dx: (column.x - 0.46) / 0.15, dy: (y - 0.2) / 0.15, scale: 1) { return [0.07, 0.07, 0.1] }
        if y > column.trees {
            let depth = noise(column.x * 150, y * 70)
            return mix([0.02, 0.05, 0.06], [0.10, 0.16, 0.13], share: depth * depth)
        }
        guard let ridge = column.ridges.lastIndex(where: { y > $0 }) else { return sky(x: column.x, y: y) }
        return rock(ridge, x: column.x, y: y, below: y - column.ridges[ridge])
    }

    /// Draws a slope in sunlight, with snow near its top, paler in the distance.
    private static func rock(_ ridge: Int, x: Double, y: Double, below: Double) -> Light {
        let pitch = 16.0 + Double(ridge) * 10
        let here = fractal(x * pitch, y * pitch * 0.7, octaves: 6)
        let beside = fractal(x * pitch + 0.16, y * pitch * 0.7 - 0.08, octaves: 6)
        let light = max(0, min(1, 0.5 + (here - beside) * 3.4))
        let isSnow = ridge < 2 && below < 0.16 * (here - 0.25) / Double(ridge + 1)
        let stone = mix([0.17, 0.16, 0.22], [0.62, 0.50, 0.46], share: light)
        let surface = isSnow ? mix([0.55, 0.60, 0.74], [1, 0.95, 0.88], share: light) : stone
        let haze = max(0, 0.55 - 0.24 * Double(ridge)) + 0.25 * max(0, y - 0.6)
        return mix(surface, [0.72, 0.66, 0.74], share: haze)
    }

    private static func sky(x: Double, y: Double) -> Light {
        let glow = mix([0.20, 0.38, 0.66], [0.98, 0.76, 0.58], share: min(1, y * 1.7))
        let distance = ((x - sun.x) * (x - sun.x) + (y - sun.y) * (y - sun.y)).squareRoot()
        if distance < 0.045 { return [1, 0.97, 0.86] }
        let halo = max(0, 1 - distance * 2)
        let cloud = max(0, fractal(x * 3 + 20, y * 9, octaves: 5) - 0.48) * 3.2 * max(0, 1.1 - y * 1.6)
        return mix(mix(glow, [1, 0.90, 0.70], share: halo * halo * 0.8), [1, 0.95, 0.92], share: min(0.85, cloud))
    }

    /// Reflects the rows above the shore, in waves that grow toward the viewer.
    private func water(_ column: Int, y: Double, x: Double) -> Light {
        let depth = (y - Self.shore) / (1 - Self.shore)
        let wave = Self.noise(x * 18, y * 260 / (0.4 + depth)) - 0.5
        let mirrored = Self.shore - (y - Self.shore) * 1.6 + wave * 0.03 * depth
        let row = max(0, min(Int(mirrored * Double(size.height)), Int(Self.shore * Double(size.height)) - 1))
        let shifted = max(0, min(size.width - 1, column + Int(wave * 26 * depth)))
        let reflected = pixels[row * size.width + shifted]
        let path = max(0, 1 - abs(x - Self.sun.x) * 7)
        let glitter = wave > 0.22 ? path * depth : 0
        return Self.mix(
            Self.mix(reflected * 0.82, [0.07, 0.16, 0.22], share: 0.25 + 0.3 * depth), [1, 0.9, 0.7], share: glitter)
    }

    /// Whether a point belongs to a bird: two wings as arcs that meet in a body; distances are in lengths of a wing.
    private static func isBird(dx: Double, dy: Double, scale: Double) -> Bool {
        let span = abs(dx)
        guard span < 1 else { return false }
        let wing = -0.42 * (span * 2.2 * (1 - span * 0.62)) + (dx < 0 ? 0.04 : 0)
        let thickness = (0.075 * (1 - span) * (1 - span) + 0.014 * (1 - span)) * scale
        return abs(dy - wing) < thickness + (span < 0.10 ? 0.05 * (1 - span * 10) : 0)
    }

    private static func mix(_ left: Light, _ right: Light, share: Double) -> Light { left + (right - left) * share }

    /// Returns fractal noise from 0 to 1; each octave has twice the frequency and half the amplitude.
    private static func fractal(_ x: Double, _ y: Double, octaves: Int) -> Double {
        var sum = 0.0
        var height = 0.5
        var pitch = 1.0
        for octave in 0..<octaves {
            sum += height * noise(x * pitch + Double(octave) * 17, y * pitch)
            height = height / 2
            pitch = pitch * 2
        }
        return sum
    }

    /// Returns smooth noise from 0 to 1, with one bump per unit of length.
    private static func noise(_ x: Double, _ y: Double) -> Double {
        let column = x.rounded(.down)
        let row = y.rounded(.down)
        let right = x - column
        let down = y - row
        let across = right * right * (3 - 2 * right)
        let along = down * down * (3 - 2 * down)
        let top = random(column, row) * (1 - across) + random(column + 1, row) * across
        let bottom = random(column, row + 1) * (1 - across) + random(column + 1, row + 1) * across
        return top + (bottom - top) * along
    }

    /// Returns a pseudorandom number from 0 to 1 that depends only on the two arguments.
    private static func random(_ column: Double, _ row: Double) -> Double {
        var bits = UInt64(bitPattern: Int64(column)) &* 0x9E37_79B9_7F4A_7C15
        bits ^= UInt64(bitPattern: Int64(row)) &* 0xC2B2_AE3D_27D4_EB4F
        bits = (bits ^ (bits >> 29)) &* 0xBF58_476D_1CE4_E5B9
        return Double((bits ^ (bits >> 32)) & 0xFFFF) / 65_535
    }
}
