import Glibc

/// Implements <https://evanw.github.io/thumbhash/>.
enum ThumbHash {
    static func bytes(of image: SmallImage) -> [UInt8] {
        let width = image.width
        let height = image.height
        let channels = Channels(image)
        let longest = Double(max(width, height))
        let limit: Double = channels.hasAlpha ? 5 : 7
        func waves(_ side: Int) -> Int { max(1, Int((limit * Double(side) / longest).rounded())) }
        let across = waves(width)
        let down = waves(height)
        func transform(_ values: [Double], columns: Int, rows: Int) -> Transform {
            Transform(values, width: width, height: height, columns: columns, rows: rows)
        }
        let luminance = transform(channels.luminance, columns: max(3, across), rows: max(3, down))
        let yellowBlue = transform(channels.yellowBlue, columns: 3, rows: 3)
        let redGreen = transform(channels.redGreen, columns: 3, rows: 3)
        let isLandscape = width > height

        var head = level(luminance.mean, maximum: 63) | level(0.5 + 0.5 * yellowBlue.mean, maximum: 63) << 6
        head |= level(0.5 + 0.5 * redGreen.mean, maximum: 63) << 12 | level(luminance.scale, maximum: 31) << 18
        head |= (channels.hasAlpha ? 1 : 0) << 23
        var tail = isLandscape ? down : across
        tail |=
            level(yellowBlue.scale, maximum: 63) << 3 | level(redGreen.scale, maximum: 63) << 9 | (isLandscape ? 1 : 0)
            << 15
        var bytes = [head, head >> 8, head >> 16, tail, tail >> 8].map { UInt8($0 & 255) }
        var waves = luminance.waves + yellowBlue.waves + redGreen.waves
        if channels.hasAlpha {
            let alpha = transform(channels.alpha, columns: 5, rows: 5)
            bytes.append(UInt8(level(alpha.mean, maximum: 15) | level(alpha.scale, maximum: 15) << 4))
            waves += alpha.waves
        }
        let levels = waves.map { UInt8(level($0, maximum: 15)) }
        for index in stride(from: 0, to: levels.count, by: 2) {
            bytes.append(levels[index] | (index + 1 < levels.count ? levels[index + 1] << 4 : 0))
        }
        return bytes
    }

    private static func level(_ fraction: Double, maximum: Double) -> Int {
        Int(min(max((fraction * maximum).rounded(), 0), maximum))
    }

    private struct Channels {
        var luminance: [Double] = []
        var yellowBlue: [Double] = []
        var redGreen: [Double] = []
        var alpha: [Double] = []
        let hasAlpha: Bool

        init(_ image: SmallImage) {
            let offsets = stride(from: 0, to: image.pixels.count, by: 4)
            func value(_ offset: Int) -> Double { Double(image.pixels[offset]) / 255 }
            var sum = [0.0, 0.0, 0.0]
            var weight = 0.0
            for offset in offsets {
                let alpha = value(offset + 3)
                weight += alpha
                for channel in 0..<3 { sum[channel] += alpha * value(offset + channel) }
            }
            let mean = weight > 0 ? sum.map { $0 / weight } : sum
            hasAlpha = weight < Double(image.width * image.height)
            for offset in offsets {
                let share = value(offset + 3)
                let color = (0..<3).map { mean[$0] * (1 - share) + share * value(offset + $0) }
                luminance.append((color[0] + color[1] + color[2]) / 3)
                yellowBlue.append((color[0] + color[1]) / 2 - color[2])
                redGreen.append(color[0] - color[1])
                alpha.append(share)
            }
        }
    }

    /// A cosine transform: the mean, and other coefficients relative to the strongest.
    private struct Transform {
        private(set) var mean = 0.0
        private(set) var scale = 0.0
        /// Coefficients in 0…1; 0.5 is zero.
        private(set) var waves: [Double] = []

        init(_ values: [Double], width: Int, height: Int, columns: Int, rows: Int) {
            let across = Self.cosines(columns, length: width)
            let down = Self.cosines(rows, length: height)
            for row in 0..<rows {
                var column = 0
                while column * rows < columns * (rows - row) {
                    // Sum in the order of the published code: the last bits decide how near-zero waves are rounded.
                    var sum = 0.0
                    for y in 0..<height {
                        for x in 0..<width { sum += values[y * width + x] * across[column][x] * down[row][y] }
                    }
                    sum /= Double(width * height)
                    if row == 0, column == 0 {
                        mean = sum
                    } else {
                        waves.append(sum)
                        scale = max(scale, abs(sum))
                    }
                    column += 1
                }
            }
            if scale > 0 { waves = waves.map { [scale] in 0.5 + 0.5 / scale * $0 } }
        }

        private static func cosines(_ count: Int, length: Int) -> [[Double]] {
            let step = Double.pi / Double(length)
            return (0..<count).map { wave in
                let angle = step * Double(wave)
                return (0..<length).map { cos(angle * (Double($0) + 0.5)) }
            }
        }
    }
}
