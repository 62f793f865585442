import Coordination
package import Imaging
package import Memory
import Recipes

/// Reads images back, for tests.
package enum ImageReading {
    /// Decodes a file at full size to interleaved pixels, all frames if it is animated.
    ///
    /// - Parameter bands: The bands that the pixels have at the least: a file may leave out colors that are all gray,
    ///   and alpha that is opaque. So 4 reads any file as red, green, blue and alpha.
    /// - Throws: The errors of inspecting and decoding.
    package static func decode(_ bytes: SharedBytes, level: Int = 1, bands: Int = 1) throws -> DecodedImage {
        try ImageLibrary.start()
        let header = try ImageHeader.inspect(bytes)
        let plan = DecodePlan(level: level, isAnimated: header.frames > 1)
        let token = WorkToken()
        var limits = ImagingLimits()
        limits.sourceFormats.formUnion([.avif, .jxl])
        return try ImageDecoder.decode(bytes, header: header, plan: plan, limits: limits, token: token)
            .interleaved(token: token).widened(to: bands)
    }
}

extension DecodedImage {
    /// A sample as if it had been decoded.
    package convenience init(_ sample: SampleImage) {
        self.init(pixels: SharedBytes(sample.pixels), size: sample.size, bands: sample.bands)
    }

    /// The same pixels, in color if `bands` are 3 or 4, and with alpha if they are 2 or 4.
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

    /// The mean of each component over all pixels.
    package var meanColor: [Double] {
        let values = pixels.array
        return (0..<bands).map { band in
            let sum = stride(from: band, to: values.count, by: bands).reduce(0) { $0 + Int(values[$1]) }
            return Double(sum) / Double(values.count / bands)
        }
    }

    /// Whether a pixel has these components, each within `tolerance`.
    package func isClose(x: Int, y: Int, frame: Int = 0, to color: [Int], tolerance: Int = 12) -> Bool {
        let pixel = pixel(x: x, y: y, frame: frame).map(Int.init)
        return pixel.count == color.count && zip(pixel, color).allSatisfy { abs($0 - $1) <= tolerance }
    }
}
