extension ICCWriter {
    /// A gray profile whose gamma is in 256ths.
    package static func gray(gamma: Int) -> [UInt8] {
        file(
            space: "GRAY",
            tags: [("wtpt", xyz(white)), ("kTRC", tag(.gamma(gamma)))])
    }

    /// A profile that consists only of tables with the corners of the RGB cube, linear in light.
    ///
    /// - Parameters:
    ///   - tables: The tables by name, such as `A2B0`, with their results for red, green and blue.
    ///   - black: The luminance of black relative to white; added to all corners.
    package static func tables(_ tables: [(name: String, primaries: [[Double]])], black: Double = 0) -> [UInt8] {
        let tags = tables.map { name, primaries in
            let corners = (0..<8).map { corner in
                zip(mixture(corner, of: primaries), white).map { $0 * (1 - black) + $1 * black }
            }
            return (name, table(inputs: 3, corners: corners))
        }
        return file(space: "RGB ", tags: [("wtpt", xyz(white))] + tags)
    }

    /// A profile with a chain of `count` identity matrices (ICC.1:2022 section 10.17), which replaces its table.
    package static func chain(count: Int, primaries: [[Double]]) -> [UInt8] {
        let corners = (0..<8).map { mixture($0, of: primaries) }
        let one = 0x3F80_0000
        let matrix =
            Array("matf".utf8) + 0.bigEndian32 + 3.bigEndian16 + 3.bigEndian16
            + [one, 0, 0, 0, one, 0, 0, 0, one, 0, 0, 0].flatMap(\.bigEndian32)
        let places = (0..<count).flatMap { _ in (16 + 8 * count).bigEndian32 + matrix.count.bigEndian32 }
        let chain =
            Array("mpet".utf8) + 0.bigEndian32 + 3.bigEndian16 + 3.bigEndian16 + count.bigEndian32 + places + matrix
        return file(
            space: "RGB ",
            tags: [("wtpt", xyz(white)), ("A2B0", table(inputs: 3, corners: corners)), ("D2B0", chain)])
    }

    /// The sum of the primaries whose bits are set in `corner`; red is the highest bit.
    private static func mixture(_ corner: Int, of primaries: [[Double]]) -> [Double] {
        var sum = [0.0, 0, 0]
        for (index, primary) in primaries.enumerated() where corner >> (2 - index) & 1 == 1 {
            for axis in 0..<3 { sum[axis] += primary[axis] }
        }
        return sum
    }

    /// A CMYK profile with a table for relative colorimetry.
    package static var inks: [UInt8] {
        let corners = (0..<16).map { corner in
            let light: Double = corner & 1 == 1 ? 0 : Double(3 - (corner >> 1).nonzeroBitCount) / 3
            return white.map { $0 * light }
        }
        return file(space: "CMYK", tags: [("wtpt", xyz(white)), ("A2B1", table(inputs: 4, corners: corners))])
    }

    private static let white = [0.9642, 1, 0.8249]

    /// A 16-bit table with two grid points per dimension (ICC.1:2010 section 10.10), whose output is XYZ.
    private static func table(inputs: Int, corners: [[Double]]) -> [UInt8] {
        let line: [UInt8] = [0, 0, 255, 255]
        var tag: [UInt8] = Array("mft2".utf8) + [0, 0, 0, 0, UInt8(inputs), 3, 2, 0]
        for element in [1, 0, 0, 0, 1, 0, 0, 0, 1] { tag += (element << 16).bigEndian32 }
        tag += [0, 2, 0, 2]
        for _ in 0..<inputs { tag += line }
        for value in corners.flatMap({ $0 }) { tag += min(65_535, Int((value * 32_768).rounded())).bigEndian16 }
        for _ in 0..<3 { tag += line }
        return tag
    }
}
