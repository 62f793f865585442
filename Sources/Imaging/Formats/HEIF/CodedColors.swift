import CCodedImages
import CPlanar
import Memory
import Recipes

struct CodedColors {
    let colors: HEIFColors
    /// Converts luma (0…1), Cb and Cr (−½…½) to red, green and blue (0…1).
    private let matrix: [[Double]]

    /// Returns nil if the matrix is unsupported or requires full-size chroma.
    init?(_ colors: HEIFColors, isFullyDetailed: Bool, bits: Int = 8) {
        self.colors = colors
        switch colors.matrix {
        case 0:
            guard isFullyDetailed else { return nil }
            matrix = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
        case 8: matrix = [[1, -1, 1], [1, 1, 0], [1, -1, -1]]
        case HEIFColors.reversible where bits > 9:
            // YCgCo-Re: samples have two bits more than the colors, which luma does not use.
            let unit = Double(1 << bits - 1) / Double(1 << (bits - 2) - 1)
            matrix = [[1, -0.5, 0.5], [1, 0.5, 0], [1, -0.5, -0.5]].map { $0.map { unit * $0 } }
        case 1, 12, 13: matrix = Self.matrix(red: 0.2126, blue: 0.0722)
        case 4: matrix = Self.matrix(red: 0.30, blue: 0.11)
        case 7: matrix = Self.matrix(red: 0.212, blue: 0.087)
        case 9, 10, 14: matrix = Self.matrix(red: 0.2627, blue: 0.0593)
        case 2, 3, 5, 6: matrix = Self.matrix(red: 0.299, blue: 0.114)
        default: return nil
        }
    }

    var isBT601: Bool { [2, 3, 5, 6].contains(colors.matrix) }

    var range: PlaneRange { colors.isFullRange ? .full : .limited }

    private static func matrix(red: Double, blue: Double) -> [[Double]] {
        let green = 1 - red - blue
        let ofRed = 2 * (1 - red)
        let ofBlue = 2 * (1 - blue)
        return [[1, 0, ofRed], [1, -ofBlue * blue / green, -ofRed * red / green], [1, ofBlue, 0]]
    }

    /// Converts red, green and blue to luma, Cb and Cr.
    private static let toBT601 = [
        [0.299, 0.587, 0.114], [-0.299 / 1.772, -0.587 / 1.772, 0.886 / 1.772],
        [0.701 / 1.402, -0.587 / 1.402, -0.114 / 1.402],
    ]

    /// Returns the sample value of 0, and its distance to the value of 1.
    private func extent(ofPlane index: Int, hasChroma: Bool, bits: Int) -> (start: Double, length: Double) {
        let isDifference = index > 0 && hasChroma
        let unit = Double(1 << (bits - 8))
        return switch (colors.isFullRange, isDifference) {
        case (true, false): (0, 256 * unit - 1)
        case (true, true): (128 * unit, 256 * unit - 1)
        case (false, false): (16 * unit, 219 * unit)
        case (false, true): (128 * unit, 224 * unit)
        }
    }

    /// Returns the weights of an output component, given by a row of the matrix.
    private func weights(_ row: [Double], start: Double, length: Double, bits: Int) -> (Float, Float, Float, Float) {
        var summand = start
        let weights = row.indices.map { index in
            let source = extent(ofPlane: index, hasChroma: colors.matrix != 0, bits: bits)
            summand -= length * row[index] / source.length * source.start
            return length * row[index] / source.length
        }
        return (Float(weights[0]), Float(weights[1]), Float(weights[2]), Float(summand))
    }

    func convertToBT601(_ image: CodedPlanes) throws(ImagingError) {
        guard !isBT601, image.planes.count == 3 else { return }
        let rows = Self.toBT601.map { row in
            (0..<3).map { column in (0..<3).reduce(0) { $0 + row[$1] * matrix[$1][column] } }
        }
        func components(_ indices: Range<Int>) -> [Component] {
            unsafe indices.map { index in
                let result = extent(ofPlane: index, hasChroma: true, bits: 8)
                return unsafe Component(
                    weights: weights(rows[index], start: result.start, length: result.length, bits: 8),
                    samples: image.samples(ofPlane: index), stride: image.planes[index].stride, step: 1)
            }
        }
        if colors.matrix == 0 {
            try unsafe image.convert([0, 1, 2], to: components(0..<3))
        } else {
            // The conversion of luma needs the original chroma.
            try unsafe image.convert([0, 1, 2], to: components(0..<1))
            try unsafe image.convert([1, 1, 2], to: components(1..<3))
        }
    }

    func interleave(
        _ image: CodedPlanes, alpha: CodedPlanes?, isAlphaFull: Bool, into pixels: borrowing PlaneMemory,
        at offset: Int = 0
    ) throws(ImagingError) {
        let colorBands = image.planes.count
        let bands = colorBands + (alpha == nil ? 0 : 1)
        let has16Bits = image.bits > 8
        let bytes = has16Bits ? 2 : 1
        func component(of colors: CodedColors, _ row: [Double], bits: Int, band: Int) -> Component {
            unsafe Component(
                weights: colors.weights(row, start: 0, length: has16Bits ? 65_535 : 255, bits: bits),
                samples: pixels.bytes.baseAddress?.advanced(by: offset + band * bytes),
                stride: image.planes[0].size.width * bands * bytes, step: bands * bytes)
        }
        if colorBands == 1 {
            let gray = unsafe component(of: self, [1, 0, 0], bits: image.bits, band: 0)
            try unsafe image.convert([0, 0, 0], to: [gray], to16Bits: has16Bits)
        } else {
            let colors = unsafe (0..<3).map { unsafe component(of: self, matrix[$0], bits: image.bits, band: $0) }
            try unsafe image.convert([0, 1, 2], to: colors, to16Bits: has16Bits)
        }
        let alphaColors = HEIFColors(matrix: 2, isFullRange: isAlphaFull)
        guard let alpha, let plain = CodedColors(alphaColors, isFullyDetailed: true) else { return }
        let opacity = unsafe component(of: plain, [1, 0, 0], bits: alpha.bits, band: bands - 1)
        try unsafe alpha.convert([0, 0, 0], to: [opacity], to16Bits: has16Bits)
    }
}

private typealias Component = CCodedImagesComponent

extension CCodedImagesComponent {
    @unsafe
    fileprivate init(weights: (Float, Float, Float, Float), samples: UnsafeMutableRawPointer?, stride: Int, step: Int) {
        unsafe self.init(weights: weights, samples: samples, stride: stride, step: Int32(step))
    }
}

extension CodedPlanes {
    @unsafe
    fileprivate func samples(ofPlane index: Int) -> UnsafeMutableRawPointer? {
        unsafe memory.bytes.baseAddress?.advanced(by: planes[index].offset)
    }

    @unsafe
    fileprivate func convert(
        _ indices: [Int], to components: [CCodedImagesComponent], to16Bits: Bool = false
    ) throws(ImagingError) {
        let first = planes[indices[0]].region
        let other = planes[indices[1]].region
        let across = other.width / first.width
        let down = other.height / first.height
        let sources = unsafe indices.map { index in
            let plane = planes[index]
            return unsafe CCodedImagesPlane(
                samples: samples(ofPlane: index), stride: plane.stride, width: Int32(plane.size.width),
                height: Int32(plane.size.height))
        }
        let none = unsafe CCodedImagesComponent()
        var conversion = unsafe CCodedImagesConversion(
            sources: (sources[0], sources[1], sources[2]), takes_words: bits > 8 ? 1 : 0, makes_words: to16Bits ? 1 : 0,
            left: other.left - first.left * across, top: other.top - first.top * down, across: across, down: down,
            components: (
                components[0], components.count > 1 ? components[1] : none, components.count > 2 ? components[2] : none
            ), count: Int32(components.count))
        guard unsafe CCodedImages_convert(&conversion) == 0 else {
            throw .outOfMemory(detail: "no memory to convert the colors")
        }
    }
}
