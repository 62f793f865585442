/// The meaning of an image's colours, as the numbers of curves and primaries: all that most ICC profiles of photographs
/// have.
///
/// A profile in a file is as untrusted as the file. Only its numbers are kept, and the colour engine reads a profile
/// that the service writes from these numbers.
package struct ColorProfile: Hashable, Sendable {
    /// The curve from a stored component to light.
    enum Curve: Hashable, Sendable {
        /// Light in 65535ths at even steps; a single entry is an exponent in 256ths, and an empty table is the
        /// identity.
        case table([UInt16])
        /// A formula of ICC.1:2010 section 10.16, by its number, with its parameters in 65536ths.
        case formula(Int, [Int32])
    }

    /// The version of the ICC format, which decides how the colour engine treats black.
    let majorVersion: UInt8
    /// Whether a grey image's connection space is L*a*b*, not XYZ.
    let connectsByLab: Bool
    /// Red, green and blue in the connection space, in 65536ths; empty for grey.
    let primaries: [[Int32]]
    /// One curve for each primary, or one for grey.
    let curves: [Curve]

    /// Whether these are colours of pixels with this number of components: one for grey, three for colour.
    func describes(bands: Int) -> Bool { bands == (primaries.isEmpty ? 1 : 3) }
}

extension ColorProfile.Curve {
    /// Most entries of a table.
    static let longestTable = 65_536

    /// Number of parameters by the formula's number.
    static let parameterCounts = [1, 3, 4, 5, 7]
}
