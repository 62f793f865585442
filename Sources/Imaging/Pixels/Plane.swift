package import Recipes

package struct Plane: Hashable, Sendable {
    package let size: PixelSize
    /// The offset of the plane in the image's bytes.
    let offset: Int
    let stride: Int
    let region: Region

    var byteCount: Int { stride * size.height }

    /// The alignment of rows and planes in bytes, the size of the widest registers.
    static let alignment = 64

    /// The region of a plane that the image fills, in samples.
    ///
    /// A sample is a unit square. The image may end within a sample: a side of 203 reduced by 8 fills 25⅜ of 26
    /// samples. If it was turned, it may begin within one.
    package struct Region: Hashable, Sendable {
        package var left, top, width, height: Double

        package init(left: Double = 0, top: Double = 0, width: Double, height: Double) {
            self.left = left
            self.top = top
            self.width = width
            self.height = height
        }

        /// Returns the smallest rectangle of whole samples that contains the region.
        func samples(in plane: PixelSize) -> PixelRectangle {
            let x = max(0, Int(left))
            let y = max(0, Int(top))
            let right = min(plane.width, Int((left + width).rounded(.up)))
            let bottom = min(plane.height, Int((top + height).rounded(.up)))
            return PixelRectangle(x: x, y: y, size: PixelSize(width: max(1, right - x), height: max(1, bottom - y)))
        }
    }
}

extension QuarterTurn {
    func turned(_ region: Plane.Region, in size: PixelSize) -> Plane.Region {
        let (left, top) = corner(
            region.left, region.top, of: (region.width, region.height), in: (Double(size.width), Double(size.height)))
        return exchangesSides
            ? Plane.Region(left: left, top: top, width: region.height, height: region.width)
            : Plane.Region(left: left, top: top, width: region.width, height: region.height)
    }
}

extension [Plane] {
    static func stacked(_ shapes: [(size: PixelSize, region: Plane.Region)], bytesPerSample: Int = 1) -> [Plane] {
        var offset = 0
        return shapes.map { size, region in
            let length = size.width * bytesPerSample
            let stride = (length + Plane.alignment - 1) / Plane.alignment * Plane.alignment
            let plane = Plane(size: size, offset: offset, stride: stride, region: region)
            offset += plane.byteCount
            return plane
        }
    }

    static func stacked(_ sizes: [PixelSize]) -> [Plane] {
        stacked(sizes.map { ($0, Plane.Region(width: Double($0.width), height: Double($0.height))) })
    }

    var byteCount: Int { last.map { $0.offset + $0.byteCount } ?? 0 }
}

extension PlaneRange {
    typealias Conversion = (scale: Float, offset: Float)

    /// Returns the conversion of samples to another range.
    func conversion(to other: PlaneRange, isLuma: Bool) -> Conversion {
        let from = extent(isLuma: isLuma)
        let to = other.extent(isLuma: isLuma)
        let factor = to.length / from.length
        return (Float(factor), Float(to.start - from.start * factor))
    }

    func samples(of color: Color) -> [UInt8] {
        let red = Double(color.red)
        let green = Double(color.green)
        let blue = Double(color.blue)
        let luma = 0.299 * red + 0.587 * green + 0.114 * blue
        return [luma, (blue - luma) / 1.772, (red - luma) / 1.402].enumerated().map { index, value in
            let (start, length) = extent(isLuma: index == 0)
            return UInt8(min(max((start + value * (length / 255)).rounded(), 0), 255))
        }
    }

    /// Returns the sample of zero and its distance to the maximum; for chroma, zero is in the middle of the range.
    private func extent(isLuma: Bool) -> (start: Double, length: Double) {
        switch (self, isLuma) {
        case (.full, true): (0, 255)
        case (.full, false): (128, 255)
        case (.limited, true): (16, 219)
        case (.limited, false): (128, 224)
        }
    }
}
