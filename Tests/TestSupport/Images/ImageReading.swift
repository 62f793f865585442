import Coordination
package import Imaging
package import Memory
import Recipes

/// Decodes images for tests.
package enum ImageReading {
    /// Decodes a file at full size to interleaved pixels; animations with all frames.
    ///
    /// - Parameter bands: The minimum number of bands: encoders may drop color if all pixels are gray, or opaque alpha.
    ///   With 4, every file decodes to red, green, blue and alpha.
    package static func decode(_ bytes: SharedBytes, level: Int = 1, bands: Int = 1) throws -> DecodedImage {
        try ImageLibrary.start()
        let header = try ImageHeader.inspect(bytes)
        let plan = DecodePlan(level: level, isAnimated: header.frames > 1)
        let token = WorkToken()
        var limits = ImagingLimits()
        limits.sourceFormats.formUnion([.avif, .jxl])
        return try ImageDecoder.decode(bytes, header: header, plan: plan, limits: limits, token: token)
            .interleavedInSRGB(token: token).widened(to: bands)
    }
}

extension DecodedImage {
    package convenience init(_ sample: SampleImage) {
        self.init(pixels: SharedBytes(sample.pixels), size: sample.size, bands: sample.bands)
    }

    /// Returns the same pixels in color if `bands` is 3 or 4, and with alpha if it is 2 or 4.
    package func widened(to bands: Int) -> DecodedImage {
        let (isGray, hasAlpha) = (self.bands < 3, self.hasAlpha)
        let (needsColors, needsAlpha) = (isGray && bands > 2, !hasAlpha && bands.isMultiple(of: 2))
        guard needsColors || needsAlpha else { return self }
        let samples = pixels.array
        let wide = stride(from: 0, to: samples.count, by: self.bands).flatMap { start in
            let colors = samples[start..<start + (isGray ? 1 : 3)]
            return (needsColors ? [UInt8](repeating: colors[start], count: 3) : Array(colors))
                + (hasAlpha ? [samples[start + self.bands - 1]] : needsAlpha ? [255] : [])
        }
        return DecodedImage(
            pixels: SharedBytes(wide), size: size, bands: wide.count / (size.area * frames), frames: frames,
            delays: delays, loop: loop)
    }

    /// Mean of each component over all pixels.
    package var meanColor: [Double] {
        let values = pixels.array
        return (0..<bands).map { band in
            let sum = stride(from: band, to: values.count, by: bands).reduce(0) { $0 + Int(values[$1]) }
            return Double(sum) / Double(values.count / bands)
        }
    }

    /// Whether each component of a pixel is within `tolerance` of `color`.
    package func isClose(x: Int, y: Int, frame: Int = 0, to color: [Int], tolerance: Int = 12) -> Bool {
        let pixel = pixel(x: x, y: y, frame: frame).map(Int.init)
        return pixel.count == color.count && zip(pixel, color).allSatisfy { abs($0 - $1) <= tolerance }
    }
}
