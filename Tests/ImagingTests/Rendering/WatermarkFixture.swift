import Coordination
import Memory
import TestSupport

@testable import Imaging
@testable import Recipes

/// Renders watermarks on images.
enum WatermarkFixture {
    static let size = PixelSize(width: 40, height: 24)
    static let markSize = PixelSize(width: 8, height: 4)

    /// A file with a watermark.
    static func file(
        _ image: SharedBytes, mark: SharedBytes, as format: ImageFormat = .png, ratio: Int = 1_000,
        keeping forms: KeptForms? = nil,
        _ configure: (inout RenderingOptions, inout WatermarkOptions) -> Void = { _, _ in }
    ) throws -> SharedBytes {
        try ImageLibrary.start()
        var (wishes, watermark, limits) = (RenderingOptions(), WatermarkOptions(), ImagingLimits())
        configure(&wishes, &watermark)
        (wishes.watermark, wishes.devicePixelRatio) = (watermark, ratio)
        limits.sourceFormats.formUnion([.avif, .svg])
        func decoded(_ file: SharedBytes, _ plan: DecodePlan) throws -> DecodedImage {
            try ImageDecoder.decode(
                file, header: ImageHeader.inspect(file), plan: plan, limits: limits, token: WorkToken())
        }
        let plan = try RenderPlan(
            options: wishes, format: format, source: ImageHeader.inspect(image), limits: limits,
            additions: [ImageHeader.inspect(mark)])
        return try ImageRenderer.render(
            decoded(image, plan.decode), additions: [decoded(mark, plan.additions[0])],
            additionCache: forms?.additionCache ?? AdditionForm.uncached, plan: plan, token: WorkToken()
        ).bytes
    }

    static func png(_ size: PixelSize, _ color: [UInt8]) -> SharedBytes {
        SharedBytes(ImageFixture.file(.plain(size, color), as: .png))
    }

    /// The exact mixture of two colors with straight alpha, in floating point.
    static func mixture(_ mark: [UInt8], over image: [UInt8], opacity: Int) -> [Int] {
        func colors(_ pixel: [UInt8]) -> ([Double], Double) {
            let hasAlpha = pixel.count.isMultiple(of: 2)
            let values = pixel.map(Double.init)
            let colors = hasAlpha ? Array(values.dropLast()) : values
            let alpha = hasAlpha ? values[colors.count] / 255 : 1
            return (colors.count == 1 ? [colors[0], colors[0], colors[0]] : colors, alpha)
        }
        let ((top, topAlpha), (bottom, bottomAlpha)) = (colors(mark), colors(image))
        let above = topAlpha * Double(opacity) / 100
        let alpha = above + bottomAlpha * (1 - above)
        let mixed = zip(top, bottom).map { top, bottom in
            Int(((top * above + bottom * bottomAlpha * (1 - above)) / alpha).rounded())
        }
        return image.count.isMultiple(of: 2) ? mixed + [Int((alpha * 255).rounded())] : mixed
    }
}

extension DecodedImage {
    /// Whether the colors of a pixel are close to these; alpha is ignored.
    func isNear(x: Int, y: Int, frame: Int = 0, _ color: [Int], tolerance: Int = 24) -> Bool {
        zip(pixel(x: x, y: y, frame: frame), color).allSatisfy { abs(Int($0) - $1) <= tolerance }
    }
}

/// Keeps all forms of additional sources.
final class KeptForms: Sendable {
    private let forms = Locked<[(form: AdditionForm, image: DecodedImage)]>([])

    /// Sizes of the forms in the order in which they were created.
    var sizes: [PixelSize] { forms.withLock { $0.map(\.image.size) } }

    var additionCache: AdditionPixelCache {
        { [forms] _, form, make in
            if let kept = forms.withLock({ $0.first { $0.form == form } }) { return kept.image }
            let image = try make()
            forms.withLock { $0.append((form, image)) }
            return image
        }
    }
}
