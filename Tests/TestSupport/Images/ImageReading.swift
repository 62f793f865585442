import Coordination
package import Imaging
package import Memory

/// Reads images back, for tests.
package enum ImageReading {
    /// Decodes a file at full size to interleaved pixels, all frames if it is animated.
    ///
    /// - Throws: The errors of inspecting and decoding.
    package static func decode(_ bytes: SharedBytes, level: Int = 1) throws -> DecodedImage {
        try ImageLibrary.start()
        let header = try ImageHeader.inspect(bytes)
        let plan = DecodePlan(level: level, isAnimated: header.frames > 1)
        let token = WorkToken()
        var limits = ImagingLimits()
        limits.sourceFormats.insert(.avif)
        return try ImageDecoder.decode(bytes, header: header, plan: plan, limits: limits, token: token)
            .interleaved(token: token)
    }
}

extension DecodedImage {
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
