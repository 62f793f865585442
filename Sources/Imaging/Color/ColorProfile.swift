/// What the colours of a picture mean, by curves and primaries, in numbers: all that most ICC profiles of photographs say.
///
/// A profile is a file within a file, by the same stranger. What is kept of it are numbers, and what the colour engine gets to read
/// is a profile written here of these numbers.
package struct ColorProfile: Hashable, Sendable {
    /// From a stored component to light.
    enum Curve: Hashable, Sendable {
        /// Light in 65535ths at even steps; a single entry is a power in 256ths, and none at all the straight line.
        case table([UInt16])
        /// One of the formulas of ICC.1:2010 section 10.16, by its number, with its parameters in 65536ths.
        case formula(Int, [Int32])
    }

    /// The version of the format, which decides how the engine treats black.
    let majorVersion: UInt8
    /// Whether a grey picture's connection space is L*a*b* and not XYZ.
    let connectsByLab: Bool
    /// What red, green and blue look like in the connection space, in 65536ths; none for grey.
    let primaries: [[Int32]]
    /// One for each primary, or one for grey.
    let curves: [Curve]

    /// Whether pixels of so many components can have these colours: grey one, colour three.
    func describes(bands: Int) -> Bool { bands == (primaries.isEmpty ? 1 : 3) }
}

extension ColorProfile.Curve {
    /// Most entries of a table.
    static let longestTable = 65_536

    /// Number of parameters by the formula's number.
    static let parameterCounts = [1, 3, 4, 5, 7]
}
