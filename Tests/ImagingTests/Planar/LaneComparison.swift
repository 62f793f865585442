import Coordination
import Glibc
import Imaging
import Memory
import Recipes
import TestSupport

/// The planar lane's result for a file, and libvips' result from a full decode without shortcuts.
struct LaneComparison {
    let planar: EncodedImage
    private let one: DecodedImage
    private let other: DecodedImage

    init(
        _ file: SharedBytes, _ options: RenderingOptions, _ format: ImageFormat, light: ResamplingLight = .gamma
    ) throws {
        try ImageLibrary.start()
        let header = try ImageHeader.inspect(file)
        let limits = ImagingLimits()
        let plan = try RenderPlan(
            options: options, format: format, source: header, limits: limits, light: light)
        let token = WorkToken()
        let planes = try ImageDecoder.decode(file, header: header, plan: plan.decode, limits: limits, token: token)
        guard planes.isPlanar else { throw NotPlanar() }
        let whole = try Self.decode(file)
        planar = try ImageRenderer.render(planes, plan: plan, token: token)
        one = try Self.decode(planar.bytes)
        other = try Self.decode(ImageRenderer.render(whole, plan: plan, token: token).bytes)
        guard one.size == other.size, one.bands == other.bands else { throw NotAlike() }
    }

    /// The result is from the other lane.
    struct NotPlanar: Error {}
    /// The results differ in size or kind.
    struct NotAlike: Error {}

    /// PSNR of the two results in decibels, over all components; transparent pixels have no color.
    var noiseDistance: Double {
        let (a, b) = (Self.visible(one), Self.visible(other))
        var sum = 0
        for index in 0..<a.count {
            let difference = a[index] - b[index]
            sum += difference * difference
        }
        return sum > 0 ? 10 * log10(255 * 255 * Double(a.count) / Double(sum)) : .infinity
    }

    /// The components; colors are multiplied by alpha.
    private static func visible(_ image: DecodedImage) -> [Int] {
        let values = image.pixels.array.map(Int.init)
        guard image.hasAlpha else { return values }
        return values.indices.map { index in
            let alpha = index - index % image.bands + image.bands - 1
            return index == alpha ? values[index] : values[index] * values[alpha] / 255
        }
    }

    /// Mean structural similarity of the results, 0…1, over windows of 8×8 pixels and all components.
    var similarity: Double {
        let (a, b) = (one.pixels.array, other.pixels.array)
        var values: [Double] = []
        for top in stride(from: 0, through: max(0, one.size.height - 8), by: 4) {
            for left in stride(from: 0, through: max(0, one.size.width - 8), by: 4) {
                for band in 0..<one.bands { values.append(similarity(a, b, left, top, band)) }
            }
        }
        return values.reduce(0, +) / Double(values.count)
    }

    private func similarity(_ a: [UInt8], _ b: [UInt8], _ left: Int, _ top: Int, _ band: Int) -> Double {
        var (sumA, sumB, squaresA, squaresB, products, count) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for y in top..<min(top + 8, one.size.height) {
            for x in left..<min(left + 8, one.size.width) {
                let index = (y * one.size.width + x) * one.bands + band
                let (valueA, valueB) = (Double(a[index]), Double(b[index]))
                (sumA, sumB, count) = (sumA + valueA, sumB + valueB, count + 1)
                (squaresA, squaresB) = (squaresA + valueA * valueA, squaresB + valueB * valueB)
                products += valueA * valueB
            }
        }
        let (meanA, meanB) = (sumA / count, sumB / count)
        let (varianceA, varianceB) = (squaresA / count - meanA * meanA, squaresB / count - meanB * meanB)
        let covariance = products / count - meanA * meanB
        let (light, contrast) = (pow(0.01 * 255, 2), pow(0.03 * 255, 2))
        return (2 * meanA * meanB + light) * (2 * covariance + contrast)
            / ((meanA * meanA + meanB * meanB + light) * (varianceA + varianceB + contrast))
    }

    /// Decodes with libvips only, independent of the tested code.
    private static func decode(_ file: SharedBytes) throws -> DecodedImage {
        let header = try ImageHeader.inspect(file)
        var limits = ImagingLimits()
        limits.sourceFormats.insert(header.format)
        return try ImageDecoder.decode(
            file, header: header, plan: DecodePlan(), limits: limits, token: WorkToken(), lane: .vips)
    }
}

extension DecodedImage {
    var isPlanar: Bool { if case .planar = layout { true } else { false } }
}
