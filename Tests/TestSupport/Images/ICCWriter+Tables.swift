extension ICCWriter {
    /// A profile of one component with a power in 256ths.
    package static func gray(gamma: Int) -> [UInt8] {
        file(
            space: "GRAY",
            tags: [("wtpt", xyz(white)), ("kTRC", tag(.gamma(gamma)))])
    }

    /// A profile of nothing but tables, each of the corners of red, green and blue alone, which stand in proportion to
    /// light.
    ///
    /// - Parameters:
    ///   - tables: Each table's name, for example `A2B0`, with its results for the three solid colors.
    ///   - black: The light of black, as a share of white's, which is added to all.
    package static func tables(_ tables: [(name: String, primaries: [[Double]])], black: Double = 0) -> [UInt8] {
        let tags = tables.map { name, primaries in
            let corners = (0..<8).map { corner in
                zip(mixture(corner, of: primaries), white).map { $0 * (1 - black) + $1 * black }
            }
            return (name, table(inputs: 3, corners: corners))
        }
        return file(space: "RGB ", tags: [("wtpt", xyz(white))] + tags)
    }

    /// A profile whose table is followed by no program that takes its chain of equal matrices, as many as wanted
    /// (ICC.1:2022 section 10.17).
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

    /// The sum of those primaries whose bits are set, red's the highest.
    private static func mixture(_ corner: Int, of primaries: [[Double]]) -> [Double] {
        var sum = [0.0, 0, 0]
        for (index, primary) in primaries.enumerated() where corner >> (2 - index) & 1 == 1 {
            for axis in 0..<3 { sum[axis] += primary[axis] }
        }
        return sum
    }

    /// A CMYK profile with a relative table.
    package static var inks: [UInt8] {
        let corners = (0..<16).map { corner in
            let light: Double = corner & 1 == 1 ? 0 : Double(3 - (corner >> 1).nonzeroBitCount) / 3
            return white.map { $0 * light }
        }
        return file(space: "CMYK", tags: [("wtpt", xyz(white)), ("A2B1", table(inputs: 4, corners: corners))])
    }

    private static let white = [0.9642, 1, 0.8249]

    /// A table of 16 bits with two steps in each direction (ICC.1:2010 section 10.10), of the connection space's XYZ.
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
