import Glibc
import Recipes

/// Implements <https://github.com/woltapp/blurhash/blob/master/Algorithm.md>.
enum BlurHash {
    private static let digits = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// Returns the BlurHash of 1…9 columns and rows; transparent parts count as white.
    static func text(of image: SmallImage, columns: Int, rows: Int) -> String {
        let factors = factors(of: image, columns: columns, rows: rows)
        var text: [UInt8] = []
        append((columns - 1) + (rows - 1) * 9, digits: 1, to: &text)
        let waves = factors.dropFirst()
        let maximum = waves.flatMap { $0 }.map(abs).max() ?? 0
        let step = waves.isEmpty ? 0 : Int(min(max((maximum * 166 - 0.5).rounded(.down), 0), 82))
        append(step, digits: 1, to: &text)
        let mean = factors[0].map { SRGBCurve.component(of: $0) }
        append(mean[0] << 16 | mean[1] << 8 | mean[2], digits: 4, to: &text)
        let scale = waves.isEmpty ? 1 : Double(step + 1) / 166
        for wave in waves {
            let levels = wave.map { factor -> Int in
                let share = factor / scale
                let root = (share < 0 ? -1 : 1) * abs(share).squareRoot()
                return Int(min(max((root * 9 + 9.5).rounded(.down), 0), 18))
            }
            append((levels[0] * 19 + levels[1]) * 19 + levels[2], digits: 2, to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func factors(of image: SmallImage, columns: Int, rows: Int) -> [[Double]] {
        let width = image.width
        let height = image.height
        let across = waves(columns, length: width)
        let down = waves(rows, length: height)
        var sums = [[Double]](repeating: [0, 0, 0], count: columns * rows)
        for y in 0..<height {
            // Sum the waves along a row first, so that each row is read once.
            var row = [[Double]](repeating: [0, 0, 0], count: columns)
            for x in 0..<width {
                let offset = 4 * (y * width + x)
                let alpha = Double(image.pixels[offset + 3]) / 255
                for channel in 0..<3 {
                    let component = Double(image.pixels[offset + channel]) * alpha + 255 * (1 - alpha)
                    let light = SRGBCurve.light[Int(component + 0.5)]
                    for column in 0..<columns { row[column][channel] += light * across[column][x] }
                }
            }
            for index in sums.indices {
                let wave = down[index / columns][y]
                for channel in 0..<3 { sums[index][channel] += row[index % columns][channel] * wave }
            }
        }
        return sums.indices.map { index in
            let weight = (index == 0 ? 1.0 : 2.0) / Double(width * height)
            return sums[index].map { $0 * weight }
        }
    }

    private static func waves(_ count: Int, length: Int) -> [[Double]] {
        (0..<count).map { wave in
            (0..<length).map { cos(.pi * Double(wave) * Double($0) / Double(length)) }
        }
    }

    private static func append(_ value: Int, digits count: Int, to text: inout [UInt8]) {
        var value = value
        var reversed: [UInt8] = []
        for _ in 0..<count {
            reversed.append(digits[value % 83])
            value /= 83
        }
        text += reversed.reversed()
    }
}
