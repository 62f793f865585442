import Coordination
import Glibc
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Numeric curves in headers, for gray and for color.
struct StatedCurveTests {
    /// The sRGB sample with the same luminance as this sample of a power curve.
    private static func standard(_ sample: Int, power: Double) -> Int {
        let light = pow(Double(sample) / 255, power)
        let value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
        return Int((value * 255).rounded())
    }

    @Test(
        arguments: [
            (PNGWriter.ColorType.gray, [255]), (.grayAlpha, [255]), (.rgb, [60, 60]), (.rgba, [60, 60, 255]),
        ], [(100_000, 1.0), (35_714, 2.8), (45_455, nil)]
    )
    func `gamma of a PNG applies without primaries`(
        kind: (type: PNGWriter.ColorType, rest: [Int]), gamma: (declared: Int, power: Double?)
    ) throws {
        for level in [1, 4] {
            var writer = PNGWriter(width: 32, height: 16, colorType: kind.type)
            writer.chunks = [("gAMA", gamma.declared.bigEndian32)]
            let image = try decode(
                writer.file { x, _ in [x < 16 ? 60 : 180] + (kind.type == .gray ? [] : kind.rest) }, level: level)
            for (x, sample) in [(1, 60), (30 / level, 180)] {
                let wanted = gamma.power.map { Self.standard(sample, power: $0) } ?? sample
                #expect(abs(Int(image.pixel(x: x, y: 0)[0]) - wanted) <= 1, "\(image.pixel(x: x, y: 0)), \(wanted)")
            }
        }
    }

    @Test(arguments: [1.0, 2.8])
    func `dark gray is converted as exactly as light gray`(power: Double) throws {
        var writer = PNGWriter(width: 256, height: 1, colorType: .gray)
        writer.chunks = [("gAMA", Int((100_000 / power).rounded()).bigEndian32)]
        let image = try decode(writer.file { x, _ in [x] }, level: 1)
        for sample in 0..<256 {
            let (found, wanted) = (image.pixel(x: sample, y: 0)[0], Self.standard(sample, power: power))
            #expect(abs(Int(found) - wanted) <= 1, "\(sample) became \(found), not \(wanted)")
        }
    }

    @Test(arguments: [(8, 1.0), (5, 2.8)], [false, true])
    func `the curve of a gray AVIF applies`(transfer: (point: UInt8, power: Double), hasAlpha: Bool) throws {
        // Samples of 16 and 235 in full range.
        var item = HEIFWriter.Item.limitedGray
        item.properties += [
            HEIFBox.depths([8]), HEIFBox.meaning(isFullRange: true, primaries: 1, transfer: transfer.point),
        ]
        var alpha = HEIFWriter.Item.limitedGray
        alpha.id = 2
        alpha.properties.append(HEIFBox.alpha)
        alpha.references = [("auxl", [1])]
        for level in [1, 2] {
            let image = try decode(HEIFWriter(hasAlpha ? [item, alpha] : [item], primary: 1).file, level: level)
            #expect(image.bands == (hasAlpha ? 2 : 1))
            // The left half is transparent.
            for (x, sample) in [(3, 16), (28, 235)] where x > 16 || !hasAlpha {
                let wanted = Self.standard(sample, power: transfer.power)
                let found = image.pixel(x: x / level, y: 4)[0]
                #expect(abs(Int(found) - wanted) <= 2, "\(found), not \(wanted)")
            }
        }
    }

    private func decode(_ file: [UInt8], level: Int) throws -> DecodedImage {
        try ImageReading.decode(SharedBytes(file), level: level)
    }
}
