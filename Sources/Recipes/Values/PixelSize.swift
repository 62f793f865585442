package struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    package var width: Int
    package var height: Int

    /// libvips' limit for images between two steps.
    static let maximumSide = 10_000_000

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    package var area: Int { width.saturatingProduct(height) }

    /// Throws if all frames together have more than `maximumPixels`.
    func check(frames: Int, maximumPixels: Int) throws(ImagingError) {
        guard width > 0, height > 0 else { throw .cannotDecode(detail: "an image of \(self)") }
        guard max(width, height) <= PixelSize.maximumSide, area <= maximumPixels / frames else {
            throw .tooManyPixels(self, frames: frames)
        }
    }

    package var exchanged: PixelSize { PixelSize(width: height, height: width) }

    package func reduced(by level: Int) -> PixelSize {
        func reduced(_ side: Int) -> Int { side / level + (side % level > 0 ? 1 : 0) }
        return PixelSize(width: reduced(width), height: reduced(height))
    }

    package var description: String { "\(width)×\(height)" }

    var keyText: String { "\(width)x\(height)" }
}

extension Int {
    package func saturatingSum(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    package func saturatingProduct(_ other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
