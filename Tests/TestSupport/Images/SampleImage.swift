package import Recipes

/// Computed pixels in the layout of the encoders: 8 bits, interleaved.
package struct SampleImage: Sendable {
    package let size: PixelSize
    /// 1 gray, 2 gray with alpha, 3 color, 4 color with alpha.
    package let bands: Int
    package let pixels: [UInt8]

    /// `color` returns the components of a pixel; alpha comes last.
    package init(_ size: PixelSize, bands: Int, color: (_ x: Int, _ y: Int) -> [UInt8]) {
        self.size = size
        self.bands = bands
        var pixels: [UInt8] = []
        pixels.reserveCapacity(size.area * bands)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let color = color(x, y)
                precondition(color.count == bands, "a pixel of another kind")
                pixels += color
            }
        }
        self.pixels = pixels
    }

    private init(_ size: PixelSize, bands: Int, pixels: [UInt8]) {
        (self.size, self.bands, self.pixels) = (size, bands, pixels)
    }

    package static func plain(_ size: PixelSize, _ color: [UInt8]) -> SampleImage {
        SampleImage(size, bands: color.count) { _, _ in color }
    }

    /// Red, green, blue and white quarters from top left to bottom right, so that the orientation is visible.
    package static func quarters(_ size: PixelSize) -> SampleImage {
        SampleImage(size, bands: 3) { x, y in
            switch (x < size.width / 2, y < size.height / 2) {
            case (true, true): [255, 0, 0]
            case (false, true): [0, 255, 0]
            case (true, false): [0, 0, 255]
            case (false, false): [255, 255, 255]
            }
        }
    }

    /// Smooth colors with fine noise, which compress about as well as a photograph; equal for equal sizes.
    package static func photo(_ size: PixelSize) -> SampleImage {
        var noise: UInt64 = 0x9E37_79B9_7F4A_7C15
        return SampleImage(size, bands: 3) { x, y in
            noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let grain = Int(noise >> 60)
            let red = 255 * x / size.width
            let green = 255 * y / size.height
            let wave = (x * x + y * y) / 64 % 256
            let blue = wave < 128 ? wave : 255 - wave
            return [red, green, blue].map { UInt8(min(255, $0 * 15 / 16 + grain)) }
        }
    }

    /// Gray detail without color.
    package static func texture(_ size: PixelSize) -> SampleImage {
        SampleImage(size, bands: 3) { x, y in [UInt8](repeating: UInt8((x ^ y) & 255), count: 3) }
    }

    /// The photograph with a repeating alpha gradient from left to right.
    package static func photoWithAlpha(_ size: PixelSize) -> SampleImage {
        let photo = photo(size)
        return SampleImage(size, bands: 4) { x, y in
            let start = (y * size.width + x) * 3
            return Array(photo.pixels[start..<start + 3]) + [UInt8(x & 255)]
        }
    }

    /// Random components, which no format compresses; equal for equal sizes.
    package static func noise(_ size: PixelSize, bands: Int) -> SampleImage {
        var random = UInt64(bands)
        return SampleImage(size, bands: bands, pixels: (0..<size.area * bands).map { _ in next(&random) })
    }

    /// Random pixels of at most 256 random colors; equal for equal sizes.
    package static func speckles(_ size: PixelSize, bands: Int, colors: Int) -> SampleImage {
        var random = UInt64(colors)
        let palette = (0..<colors).map { _ in (0..<bands).map { _ in next(&random) } }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(size.area * bands)
        for _ in 0..<size.area { pixels += palette[Int(next(&random)) % colors] }
        return SampleImage(size, bands: bands, pixels: pixels)
    }

    private static func next(_ random: inout UInt64) -> UInt8 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(random >> 56)
    }

    /// Black and white squares with `side` pixels per side.
    package static func checkerboard(_ size: PixelSize, side: Int = 1) -> SampleImage {
        SampleImage(size, bands: 3) { x, y in (x / side + y / side).isMultiple(of: 2) ? [0, 0, 0] : [255, 255, 255] }
    }

    /// The left half is opaque green; the right half is transparent, with hidden red.
    package static func halfTransparent(_ size: PixelSize) -> SampleImage {
        SampleImage(size, bands: 4) { x, _ in x < size.width / 2 ? [0, 255, 0, 255] : [255, 0, 0, 0] }
    }

    /// A horizontal gray gradient from black to white.
    package static func grayRamp(_ size: PixelSize) -> SampleImage {
        SampleImage(size, bands: 1) { x, _ in [UInt8(255 * x / max(1, size.width - 1))] }
    }
}
